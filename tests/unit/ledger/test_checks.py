"""The check of an input list: what the API is reported to refuse, and nothing else."""

import pytest

from itemtrace.codec.canonical import Placeholder
from itemtrace.ledger.checks import acceptable, check
from itemtrace.ledger.pairing import Pairing, pair
from itemtrace.testing.rules import refusals


USER = {"role": "user", "content": "Hello"}
ANSWER = {"type": "message", "role": "assistant", "content": [], "id": "msg_1"}


def call(kind="function_call", call_id="c1", **more):
    """A call item."""
    return {"type": kind, "call_id": call_id, **more}


def output(kind="function_call", call_id="c1", **more):
    """The output of a call."""
    return {"type": f"{kind}_output", "call_id": call_id, **more}


def reasoning(**more):
    """A reasoning item with encrypted content."""
    return {"type": "reasoning", "id": "rs_1", "encrypted_content": "x", **more}


FAMILIES = [
    "function_call", "custom_tool_call", "computer_call", "shell_call", "apply_patch_call",
    "local_shell_call",
]  # fmt: skip


@pytest.mark.parametrize("kind", FAMILIES)
def test_each_family_is_paired(kind):
    """A call needs its output, an output its call before it, each once."""
    asked, answered = call(kind), output(kind)
    found = {
        name: [
            (problem.index, problem.code, problem.call_id) for problem in check(items)
        ]
        for name, items in {
            "fine": [asked, answered],
            "open": [USER, asked],
            "orphan": [answered],
            "reversed": [answered, asked],
            "double": [asked, asked, answered, answered],
        }.items()
    }
    assert found == {
        "fine": [],
        "open": [(1, "call_without_output", "c1")],
        "orphan": [(0, "output_without_call", "c1")],
        "reversed": [
            (0, "output_without_call", "c1"),
            (1, "call_without_output", "c1"),
        ],
        "double": [(1, "double", "c1"), (3, "double", "c1")],
    }


def test_families_do_not_answer_each_other():
    """One id in two families is two calls."""
    items = [call(), call("shell_call"), output()]
    assert [problem.message for problem in check(items)] == [
        "shell_call c1 has no output"
    ]


def test_chained_requests_have_the_other_half_on_the_server():
    """With a previous response, an output alone is fine; doubles are not."""
    assert check([output()], chained=True) == []
    assert [problem.code for problem in check([output(), output()], chained=True)] == [
        "double"
    ]


@pytest.mark.parametrize(
    ("items", "lone"),
    [
        ([reasoning(), ANSWER], []),
        ([reasoning(), call(), output()], []),
        ([reasoning(), reasoning(id="rs_2"), ANSWER], []),
        ([reasoning(), {"type": "compaction", "id": "cmp_1"}, USER], []),
        ([reasoning(), {"type": "web_search_call", "id": "ws_1"}], []),
        ([reasoning()], [0]),
        ([reasoning(), USER, ANSWER], [0]),
        ([call(), reasoning(), output()], [1]),
        ([reasoning(), reasoning(id="rs_2")], [0, 1]),
    ],
)
def test_reasoning_needs_its_follower(items, lone):
    """Reasoning belongs to what the model emitted after it; a caller's item is none."""
    assert [p.index for p in check(items) if p.code == "lone_reasoning"] == lone


def test_reasoning_that_only_a_server_can_resolve():
    """Without encrypted content it depends on what the server stored."""
    items = [reasoning(encrypted_content=None), ANSWER]
    assert [problem.code for problem in check(items)] == ["server_only"]
    assert acceptable(items)
    assert not acceptable([call()])


def test_placeholder_ids():
    """The made-up id of providers without ids must not be sent."""
    (problem,) = check([{**ANSWER, "id": "__fake_id__"}])
    assert (
        str(problem)
        == "item 0: message has the placeholder id __fake_id__; leave the id out"
    )


def test_what_is_not_whole_cannot_be_sent():
    """Lost and withheld content is found however deep it is."""
    lost = Placeholder({"$it": "missing", "s": 1})
    withheld = {**ANSWER, "content": [{"text": Placeholder({"$it": "withheld"})}]}
    assert [(p.index, p.code) for p in check([lost, withheld, "text"])] == [
        (0, "not_whole"), (1, "not_whole"),
    ]  # fmt: skip


def test_hosted_approvals():
    """A response needs its request; a request may wait."""
    request = {"type": "mcp_approval_request", "id": "a1"}
    response = {
        "type": "mcp_approval_response",
        "approval_request_id": "a1",
        "approve": True,
    }
    assert check([request, response]) == []
    assert [problem.code for problem in check([response])] == ["output_without_call"]
    assert [problem.code for problem in check([request])] == ["approval_pending"]


def test_anonymous_tool_search_by_order():
    """Searches without ids are paired by their order."""
    search, found = {"type": "tool_search_call"}, {"type": "tool_search_output"}
    assert check([search, found, search, found]) == []
    assert [problem.index for problem in check([search, found, search])] == [2]
    assert pair([search, search, found, found]).answers == {0: 2, 1: 3}


def test_programs_and_their_children():
    """What a program made needs it; a program that made something may still be at work."""
    program, caller = call("program", "p1"), {"type": "program", "caller_id": "p1"}
    child = call(call_id="c1", caller=caller)
    open_shell = call("shell_call", "s1", caller=caller, status="in_progress")
    assert check([program, child, output()]) == []
    assert check([program, open_shell]) == []
    assert [p.code for p in check([program])] == ["call_without_output"]
    assert [p.code for p in check([child, output()])] == ["without_program"]
    assert check([program, {"type": "program_output", "call_id": "p1"}]) == []
    assert pair([program, child, output(caller={"type": "direct"})]) == Pairing(
        answers={1: 2}, unanswered=[0], children={0: [1]}
    )


def test_local_shell_outputs_may_carry_the_id_as_id():
    """The API's own schema names it `id`."""
    assert (
        check(
            [call("local_shell_call"), {"type": "local_shell_call_output", "id": "c1"}]
        )
        == []
    )


@pytest.mark.parametrize(
    "items",
    [
        [USER],
        [call(), output(), ANSWER],
        [call()],
        [output()],
        [call(), call(), output()],
        [reasoning(), call(), output()],
        [reasoning(), USER],
        [{**ANSWER, "id": "__fake_id__"}],
        [reasoning(encrypted_content=None), ANSWER],
    ],
)
def test_same_verdict_as_the_rules_of_the_test_provider(items):
    """Two independent opinions on what is refused agree."""
    assert bool(check(items)) == bool(refusals({"input": items}))
