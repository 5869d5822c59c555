"""Long runs and long items, then through a store that cuts strings at 2,048 bytes."""

import dataclasses

import pytest
from agents import Agent, ModelSettings, Runner, function_tool
from openai import BadRequestError

import itemtrace
from itemtrace.codec import canonical
from itemtrace.ledger import checks
from itemtrace.testing.items import function_call, message, reasoning


BLOB = "gAAAA" + "0123456789abcdef" * 400
TURNS = 30


def cut(rows, length):
    """The rows as a store gives them back that cuts every string at so many bytes."""

    def short(value):
        if not isinstance(value, str):
            return value
        return value.encode()[:length].decode(errors="ignore")

    return [
        dataclasses.replace(
            row, attributes={key: short(v) for key, v in row.attributes.items()}
        )
        for row in rows
    ]


@function_tool
async def dig(depth: int) -> str:
    """Digs."""
    return f"{depth:04} " * 200


async def test_encrypted_reasoning(provide, proved, recorded):
    """Blobs longer than an attribute come back byte for byte, also where strings are cut."""
    think = ModelSettings(store=False, response_include=["reasoning.encrypted_content"])
    fake = provide(
        {
            "m": [
                [reasoning("rs_1", BLOB), function_call("dig", "call_1", depth=1)],
                [reasoning("rs_2", "gAAAA-short"), message("Sand.")],
            ],
        }
    )
    agent = Agent(
        name="Digger",
        model=fake.responses_model("m"),
        model_settings=think,
        tools=[dig],
    )
    result = await Runner.run(agent, "Dig.")
    (run,) = proved(result)
    assert run.new_items[0].raw["encrypted_content"] == BLOB
    again = itemtrace.rebuild(cut(recorded.rows(), 2_048))
    assert again == recorded.ledger()
    assert again.runs[0].to_input_list() == result.to_input_list()


async def test_ids_only(provide, proved):
    """Reasoning that nobody stored is refused; the failed call is no empty answer."""
    fake = provide(
        {"m": [[reasoning("rs_3"), function_call("dig", "call_1", depth=1)]]}
    )
    agent = Agent(
        name="Digger",
        model=fake.responses_model("m"),
        model_settings=ModelSettings(store=False),
        tools=[dig],
    )
    with pytest.raises(BadRequestError) as raised:
        await Runner.run(agent, "Dig.")
    (run,) = proved(raised.value)
    first, second = run.model_calls
    assert first.response is not None
    assert second.response is None
    assert "rs_3" in second.error.data["error"]
    found = [problem.code for problem in checks.check(second.input)]
    assert found == ["server_only"]


async def record_turns(provide, proved, turns):
    """Runs a loop of so many tool calls and returns run and result."""
    script = [
        [
            reasoning(f"rs_{n}", f"gAAAA-{n:04}-" * 180),
            function_call("dig", f"call_{n}", depth=n),
        ]
        for n in range(turns)
    ]
    fake = provide({"m": [*script, [message("Nothing.")]]})
    agent = Agent(name="Digger", model=fake.responses_model("m"), tools=[dig])
    result = await Runner.run(agent, "Dig.", max_turns=turns + 1)
    (run,) = proved(result)
    return run, result


def size(rows):
    """Bytes of all attribute values."""
    return sum(
        len(str(value).encode()) for row in rows for value in row.attributes.values()
    )


async def test_thirty_turns(provide, proved, recorded):
    """The export grows with the items and not with the history that each call repeats."""
    run, result = await record_turns(provide, proved, TURNS)
    once = len(canonical.dumps(result.to_input_list()).encode())
    repeated = sum(len(canonical.dumps(call.input)) for call in run.model_calls)
    assert repeated > 10 * once
    rows = recorded.rows()
    records = [
        value
        for row in rows
        for value in row.attributes.values()
        if str(value).startswith("it1;")
    ]
    assert sum(len(value.encode()) for value in records) < 1.6 * once
    assert size(rows) < 3 * once
    assert max(len(row.attributes) for row in rows) < 128


async def test_cut_at_fewer_bytes(provide, proved, recorded):
    """Where strings are cut below what we fit, every damaged item is named and none is whole."""
    run, result = await record_turns(provide, proved, 4)
    damaged = itemtrace.rebuild(cut(recorded.rows(), 1_500))
    assert not damaged.exact
    assert {gap.cause.value for gap in damaged.gaps} <= {
        "cut",
        "missing",
        "altered",
        "unsealed",
    }
    (again,) = damaged.runs
    whole = {canonical.dumps(item.raw) for item in run.new_items}
    kept = [item for item in again.new_items if not item.lost]
    assert {canonical.dumps(item.raw) for item in kept} <= whole
    assert len(kept) < len(result.new_items)
    assert damaged.self_check() == []


@pytest.mark.parametrize("lost", [0, 1, 2, 3, 4, 5, 5.5, 5.99])
async def test_a_lost_span_is_named(lost, provide, proved, recorded):
    """Without any one of its record spans a ledger is the same or says that it is not exact."""
    await record_turns(provide, proved, 1)
    rows = recorded.rows()
    holders = [
        n
        for n, row in enumerate(rows)
        if any(str(v).startswith("it1;") for v in row.attributes.values())
    ]
    place = holders[int(lost * len(holders) / 6)]
    damaged = itemtrace.rebuild(rows[:place] + rows[place + 1 :])
    assert not damaged.exact or damaged == recorded.ledger()
    only_names_runs = rows[place].name.startswith("invoke_workflow")
    assert damaged.exact == only_names_runs


async def test_order_and_doubles(provide, proved, recorded):
    """Any order and any doubles give the same ledger."""
    await record_turns(provide, proved, 3)
    rows = recorded.rows()
    assert itemtrace.rebuild([*rows[::-1], *rows[::2]]) == itemtrace.rebuild(rows)
