"""Content blocks of messages and tool outputs to message parts, by registration on their type."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from itemtrace.capture.messages.fields import field


Part = dict[str, Any]
Builder = Callable[[Any], "Part | None"]

CONTENT: Final[dict[str, Builder]] = {}
"""Content block type -> what makes its part; a block of another type leaves none."""


def content_parts(content: object) -> list[Part]:
    """Returns the parts of a message's content: a string or a list of blocks."""
    if isinstance(content, str):
        return [{"type": "text", "content": content}] if content else []
    if not isinstance(content, Iterable):
        return []
    parts: list[Part] = []
    blocks: Iterable[Any] = content  # pyright: ignore[reportUnknownVariableType] - JSON
    for block in blocks:
        builder = CONTENT.get(field(block, "type"))
        part = builder(block) if builder else None
        if part:
            parts.append(part)
    return parts


def _text(name: str, kind: str = "text") -> Builder:
    def build(block: Any) -> Part | None:
        text = field(block, name)
        if not isinstance(text, str) or not text:
            return None
        return {"type": kind, "content": text}

    return build


def _by_reference(modality: str, file_id: Any, uri: Any) -> Part | None:
    if file_id:
        return {"type": "file", "modality": modality, "file_id": file_id}
    if not isinstance(uri, str) or not uri:
        return None
    if not uri.startswith("data:"):
        return {"type": "uri", "modality": modality, "uri": uri}
    head, _, data = uri.partition(",")
    mime = head[5:].split(";")[0]
    return _blob(modality, mime, data)


def _blob(modality: str, mime: str, data: str) -> Part:
    part: Part = {"type": "blob", "modality": modality, "content": data}
    if mime:
        part["mime_type"] = mime
    return part


def _image(block: Any) -> Part | None:
    url = field(block, "image_url")
    if url is not None and not isinstance(url, str):  # chat completions nest it
        url = field(url, "url")
    return _by_reference("image", field(block, "file_id"), url)


def _file(block: Any) -> Part | None:
    nested = field(block, "file") or block  # chat completions nest it
    data = field(nested, "file_data")
    if isinstance(data, str) and data and not data.startswith("data:"):
        return _blob("document", "", data)
    return _by_reference(
        "document", field(nested, "file_id"), data or field(nested, "file_url")
    )


def _audio(block: Any) -> Part | None:
    audio = field(block, "input_audio") or block
    data = field(audio, "data")
    kind = field(audio, "format")
    if not isinstance(data, str) or not data:
        return None
    return _blob("audio", f"audio/{kind}" if kind else "", data)


CONTENT.update(
    {
        "text": _text("text"),
        "input_text": _text("text"),
        "output_text": _text("text"),
        "refusal": _text("refusal"),
        "summary_text": _text("text", "reasoning"),
        "reasoning_text": _text("text", "reasoning"),
        "input_image": _image,
        "image_url": _image,
        "computer_screenshot": _image,
        "input_file": _file,
        "file": _file,
        "input_audio": _audio,
        "audio": _audio,
    }
)
