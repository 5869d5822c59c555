"""Serves the models of the fault tests until its standard input ends; prints where."""

import sys

from itemtrace.testing.items import function_call, message, reasoning
from itemtrace.testing.provider import FakeProvider


def outputs(body):
    """Returns how many tool outputs a request has, whichever API it speaks."""
    items = body.get("input", body.get("messages", []))
    if isinstance(items, str):
        return 0
    return sum(
        item.get("type") == "function_call_output" or item.get("role") == "tool"
        for item in items
    )


def stepwise(*steps):
    """Returns answers that depend on the tool outputs so far, so that any run gets the same."""
    return lambda body: steps[min(outputs(body), len(steps) - 1)]


SCRIPT = {
    "front": stepwise(
        [
            reasoning("rs_1", "gAAAA-sealed", "thinks"),
            function_call("add", "call_add", a=1, b=2),
            function_call("ask_helper", "call_helper", input="3?"),
        ],
        [message("never")],
        [function_call("transfer_to_back", "call_back")],
    ),
    "helper": stepwise([message("yes, 3 — はい")]),
    "back": stepwise([message("It is 3.")]),
    "payer": stepwise([function_call("pay", "call_pay", amount=5)], [message("Paid.")]),
    "breaker": stepwise([function_call("broken", "call_broken")], [message("never")]),
    "slow": stepwise([function_call("add", "call_slow", a=1, b=2)], [message("never")]),
}


if __name__ == "__main__":
    with FakeProvider(SCRIPT) as fake:
        sys.stdout.write(f"{fake.base_url}\n")
        sys.stdout.flush()
        sys.stdin.read()
