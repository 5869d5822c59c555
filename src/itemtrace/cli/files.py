"""Writing a file as a whole or not at all, and never over another one by accident."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

from itemtrace.errors import ConfigError


STDOUT: Final = Path("-")


@contextmanager
def replaced(path: Path, *, force: bool) -> Generator[Path]:
    """Gives the path of a temporary file that takes the place of `path` when the block ends well.

    Raises:
        ConfigError: The file is there and `force` is not given, or it cannot be written.
    """
    if path.is_dir():
        msg = f"{path} is a directory; expected a file to write"
        raise ConfigError(msg)
    if path.exists() and not force:
        msg = f"{path} is there already; --force overwrites it"
        raise ConfigError(msg)
    suffix = "".join(path.suffixes)
    try:
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name[:40]}.", suffix=suffix
        )
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror}; name another file"
        raise ConfigError(msg) from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def text_output(path: Path, *, force: bool) -> Generator[TextIO]:
    """Gives a text file that appears as `path` when the block ends well; `-` is stdout.

    Raises:
        ConfigError: As for `replaced`.
    """
    if path == STDOUT:
        yield sys.stdout
        return
    with (
        replaced(path, force=force) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        yield file
        file.flush()
