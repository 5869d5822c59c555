"""The policy checks: each finds what it is for, and our own spans pass them all."""

import dataclasses

import pytest
from opentelemetry.trace import SpanKind
from tests.unit.test_semconv import DATA, ERROR, INFOS

from itemtrace.capture.spans import on_end, on_start, workflow_start
from itemtrace.codec.spans import SpanRow
from itemtrace.testing.conformance import Finding, findings, violations
from itemtrace.testing.message_schema import problems


CHAT = SpanRow(
    "0" * 32,
    "1" * 16,
    name="chat gpt-5",
    kind="CLIENT",
    attributes={
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-5",
        "gen_ai.response.id": "resp_1",
        "gen_ai.response.model": "gpt-5",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 1,
        "gen_ai.usage.output_tokens": 1,
        "server.address": "api.openai.com",
    },
)
PLAIN = SpanRow("0" * 32, "2" * 16, name="turn", attributes={"itemtrace.turn.index": 1})


def changed(row, *, drop=(), name=None, kind=None, status=None, **attributes):
    """A copy of a row with other attributes, written with `__` for the dot."""
    added = {key.replace("__", "."): value for key, value in attributes.items()}
    kept = {key: v for key, v in row.attributes.items() if key not in drop}
    return dataclasses.replace(
        row,
        name=name or row.name,
        kind=kind or row.kind,
        status=status or row.status,
        attributes={**kept, **added},
    )


def test_a_good_span_has_no_findings():
    """A complete model span and a span without operation pass, advice included."""
    assert list(findings([CHAT, PLAIN])) == []


BAD = {
    "operation": changed(PLAIN, gen_ai__operation__name="handoff"),
    "span_name": changed(CHAT, name="chat"),
    "span_kind": changed(CHAT, kind="SERVER"),
    "status": changed(CHAT, status="OK"),
    "required": changed(CHAT, drop=["gen_ai.provider.name"]),
    "messages": changed(CHAT, gen_ai__output__messages="[{}]"),
    "dropped_names": changed(CHAT, gen_ai__system="openai"),
    "unclaimed": changed(PLAIN, gen_ai__tool__name="pay"),
    "usage": changed(PLAIN, gen_ai__usage__input_tokens=1),
}


@pytest.mark.parametrize(("rule", "row"), BAD.items(), ids=BAD)
def test_each_check_finds_its_violation(rule, row):
    """A span that breaks one rule is found by that check and by no other."""
    assert {finding.rule for finding in violations([row])} == {rule}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (changed(CHAT, status="ERROR"), "status is ERROR without error.type"),
        (changed(CHAT, error__type="X"), "error.type is 'X' with status UNSET"),
        (changed(CHAT, status="OK"), "status is OK, expected UNSET on success"),
    ],
)
def test_status_and_error_type_go_together(row, message):
    """ERROR needs `error.type`, `error.type` needs ERROR, and OK is not ours to set."""
    assert violations([row]) == [Finding("1" * 16, "chat gpt-5", "status", message)]


def test_recommended_attributes_are_advice():
    """What should be there is advice, and nothing is asked of a span that failed."""
    row = changed(CHAT, drop=["server.address"])
    assert list(findings([row])) == [
        Finding(
            "1" * 16,
            "chat gpt-5",
            "recommended",
            "server.address is recommended on 'chat' spans",
            advice=True,
        )
    ]
    failed = changed(row, status="ERROR", error__type="X")
    assert list(findings([failed])) == []


def test_refined_tool_names():
    """A tool span may name the skill that it loads."""
    row = SpanRow(
        "0" * 32,
        "3" * 16,
        name="execute_tool load_skill pdf",
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "load_skill",
            "gen_ai.skill.name": "pdf",
        },
    )
    assert violations([row]) == []


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (["x"], "is list, expected a JSON string"),
        ("{", "is no JSON: Expecting property name enclosed in double quotes"),
        ("{}", "is no list"),
        ("[1]", "[0] is no object"),
        ('[{"parts":[],"finish_reason":"stop"}]', "[0].role is no string"),
        ('[{"role":"a","finish_reason":"stop"}]', "[0].parts is no list"),
        ('[{"role":"a","parts":[]}]', "[0].finish_reason is no string"),
        (
            '[{"role":"a","parts":[1],"finish_reason":"stop"}]',
            "[0].parts[0] is no object",
        ),
    ],
)
def test_broken_messages(value, problem):
    """Each way in which a message list can be broken is named with its place."""
    key = "gen_ai.output.messages"
    assert [
        p[: len(key + problem) + 1].removeprefix(key).strip()
        for p in problems(key, value)
    ] == [problem]


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ("{}", ".type is None, expected one of"),
        ('{"type":"poem"}', ".type is 'poem', expected one of"),
        ('{"type":"text"}', ".content is absent or of another type"),
        ('{"type":"tool_call","name":"f","id":null}', ".id is no string"),
        (
            '{"type":"blob","modality":"image","content":"","x":1}',
            " has extra keys, which a blob may not have",
        ),
        (
            '{"type":"server_tool_call","name":"f","server_tool_call":{}}',
            ".server_tool_call.type is no string",
        ),
    ],
)
def test_broken_parts(part, problem):
    """Each way in which a part can be broken is named with its place."""
    key = "gen_ai.system_instructions"
    (found,) = problems(key, f"[{part}]")
    assert found.startswith(f"{key}[0]{problem}")


def test_tool_definitions():
    """A tool definition has a type and a name."""
    key = "gen_ai.tool.definitions"
    assert list(problems(key, '[{"type":"function","name":"pay"}]')) == []
    assert list(problems(key, '[{"type":"function"}]')) == [
        "gen_ai.tool.definitions[0].name is no string"
    ]


def rows():
    """The spans of every type, as a recorder would give them, good and failed."""
    for info in INFOS:
        start = workflow_start("trace_1", info, {"user": 1})
        yield row_of(start.name, start.kind, start.attributes, None)
        for data in DATA:
            for error in (None, ERROR):
                name, kind, attributes = on_start(data, info)
                name, more, error_type, *_ = on_end(data, info, error)
                yield row_of(name, kind, {**attributes, **more}, error_type)


def row_of(name, kind, attributes, error_type):
    """One span as read back."""
    return SpanRow(
        "0" * 32,
        "4" * 16,
        name=name,
        kind=SpanKind(kind).name,
        attributes=attributes,
        status="ERROR" if error_type else "UNSET",
    )


def test_our_spans_conform():
    """Each span type of the SDK, in every setting, passes all checks."""
    assert violations(rows()) == []
