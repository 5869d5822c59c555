"""Runs whose history a server keeps: which run goes on with which, and what is not here."""

from itemtrace.ledger.model import build
from itemtrace.testing.synthetic import RunWriter


def writer(number, response, **options):
    """A run of one answer."""
    run = RunWriter(f"{number:016x}")
    run.add(
        "begin",
        started=number * 1_000,
        agent="Guide",
        input=f"q{number}",
        options=options,
    )
    text = {"type": "output_text", "text": f"a{number}", "annotations": []}
    said = {"type": "message", "role": "assistant", "content": [text]}
    seq = run.add("item", type="message_output_item", agent="Guide", raw=said, call=0)
    usage = [1, 1, 1, 2, {}, {}]
    answer = {"id": response, "usage": usage, "output": [seq]}
    run.add("call", n=0, response=answer)
    run.add("end", status="completed", items=[seq], usage=usage)
    run.seal()
    return {run.run_id: run.records}


def test_by_response_id():
    """A run goes on with the run that got its previous response; the first one starts elsewhere."""
    first = writer(1, "resp_1", previous_response_id="resp_0")
    second = writer(2, "resp_2", previous_response_id="resp_1")
    one, two = build({**first, **second}).runs
    assert (one.chained_to, one.starts_elsewhere) == (None, "response resp_0")
    assert (two.chained_to, two.starts_elsewhere) == (one, None)
    assert two.history == [*one.to_input_list(), *two.to_input_list()]


def test_by_conversation():
    """In a conversation a run goes on with the one before; what came before the first is not here."""
    written: dict = {}
    for number in (1, 2, 3):
        written |= writer(number, f"r{number}", conversation_id="c")
    runs = build(written).runs
    assert [run.chained_to for run in runs] == [None, runs[0], runs[1]]
    assert runs[0].starts_elsewhere == "conversation c"
    assert len(runs[2].history) == 6


def test_plain_run():
    """A run whose history is local is chained to nothing and starts here."""
    (run,) = build(writer(1, "r1")).runs
    assert (run.chained_to, run.starts_elsewhere) == (None, None)
    assert run.history == run.to_input_list()
