"""Markdown that a model wrote, rendered without hiding any of it."""

from __future__ import annotations

from typing import Any

from markdown_it import MarkdownIt
from rich.markdown import Markdown


class SafeMarkdown(Markdown):
    """Markdown from a model: HTML, entities and link definitions stay visible text."""

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False, code_theme="ansi_dark")
        self.markup = text
        rules: Any = MarkdownIt("commonmark", {"html": False})
        rules.enable(["strikethrough", "table"])
        rules.disable(["entity", "reference"])
        self.parsed = rules.parse(text)
