"""What the models of the demo answer: one afternoon at the order desk of a lamp shop."""

from __future__ import annotations

import base64
import hashlib
import struct
import zlib
from typing import Final

from itemtrace.codec import canonical
from itemtrace.testing.items import (
    Item,
    function_call,
    message,
    reasoning,
    web_search_call,
)


QUESTION: Final = (
    "Guten Tag! Meine Bestellung A-1042 (zwei Stehlampen „Polarnacht“) kam mit einem "
    "zerbrochenen Schirm an. Bitte erstatten Sie mir die Lampe, und am besten gleich die "
    "ganze Bestellung. Danke, Jürgen Weiß 🙏"
)
FOLLOW_UP: Final = "Danke! Bis wann kann ich die kaputte Lampe zurückschicken?"

NOTE: Final = "The shade of lamp 1 was broken on arrival; one lamp is refunded."
NOTE_JA: Final = "ランプ1の笠が破損して届きました。1台分を返金します。"

RESOLUTION: Final = {
    "order": "A-1042",
    "refunded": 89.9,
    "reply": "Lieber Herr Weiß, 89,90 € für die beschädigte Lampe sind unterwegs. "
    "Für die zweite, heile Lampe ist keine Erstattung möglich.",
    "note_to_warehouse": NOTE_JA,
}


def sealed(name: str, size: int) -> str:
    """Returns what stands for a model's encrypted reasoning: fixed, and as random as that."""
    raw = b"".join(
        hashlib.sha256(f"{name}/{number}".encode()).digest()
        for number in range(-(-size // 32))
    )
    return "gAAAA" + base64.urlsafe_b64encode(raw).decode()[:size]


def picture(size: int = 40) -> str:
    """Returns a picture as a data URL: a PNG of a colour gradient, the same on every machine."""
    lines = b"".join(
        b"\0" + bytes(part for x in range(size) for part in (6 * x, 6 * y, 128))
        for y in range(size)
    )
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    stored = zlib.compress(
        lines, 0
    )  # not packed: that differs between versions of zlib
    parts = (b"IHDR", header), (b"IDAT", stored), (b"IEND", b"")
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data))
        + name
        + data
        + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
    return "data:image/png;base64," + base64.b64encode(png).decode()


def script() -> dict[str, list[list[Item]]]:
    """Returns the answers of all models of the demo."""
    return {
        "desk-mini": [_to_orders(), _when_to_send_back()],
        "desk-large": [
            [
                reasoning(
                    "rs_orders_1",
                    sealed("orders 1", 3_000),
                    "**Looking things up** The order, the stock and the parcel are independent.",
                ),
                function_call("find_order", "call_order", order="A-1042"),
                function_call("stock_level", "call_stock_1", article="polarnacht"),
                function_call("stock_level", "call_stock_2", article="polarnacht"),
                function_call("parcel_status", "call_parcel", number="DE 77 1042"),
            ],
            [
                reasoning("rs_orders_2", sealed("orders 2", 900)),
                function_call("damage_photo", "call_photo", order="A-1042"),
                function_call("translate", "call_translate", input=NOTE),
            ],
            [
                reasoning("rs_orders_3", sealed("orders 3", 400)),
                function_call("refund", "call_refund_one", order="A-1042", amount=89.9),
                function_call(
                    "refund", "call_refund_all", order="A-1042", amount=179.8
                ),
            ],
            [message(canonical.dumps(RESOLUTION), "msg_orders")],
        ],
        "translate-mini": [
            [function_call("glossary", "call_glossary", term="shade")],
            [message(NOTE_JA, "msg_translate")],
        ],
    }


def _to_orders() -> list[Item]:
    return [
        reasoning(
            "rs_desk", sealed("desk", 200), "A damaged delivery: Orders knows more."
        ),
        function_call("transfer_to_orders", "call_handoff", reason="damaged delivery"),
    ]


def _when_to_send_back() -> list[Item]:
    source = {
        "type": "url_citation",
        "start_index": 0,
        "end_index": 15,
        "url": "https://lamps.example/returns",
        "title": "Rücksendungen",
    }
    return [
        web_search_call("ws_desk", "lamps.example returns"),
        message(
            "Innerhalb von 30 Tagen, also bis zum 30. Dezember.",
            "msg_desk",
            annotations=[source],
        ),
    ]
