"""How a path or URL finds its store.

A store is a module of `itemtrace.stores` whose class is registered:

    @register("jaeger", "jaegers")
    class JaegerStore(Store):
        def __init__(self, source: str, *, write: bool = False) -> None: ...

Files are told apart by their first bytes (`sniff`), new files by their suffix.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeVar, overload
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from platformdirs import user_data_path

from itemtrace.errors import NotATrace, SourceError
from itemtrace.stores.base.contract import Store, WritableStore


Sniff = Callable[[bytes, int], bool]
"""Says whether a file with these first bytes and this size is of a store's format."""

HEAD: Final = 4096
"""How many bytes a `Sniff` gets."""

FILE: Final = "file"
"""The scheme of a path whose store is found by the file's content."""

SECRET: Final = re.compile(r"key|token|secret|passw|auth|cred|sig", re.IGNORECASE)
URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")  # one letter is a Windows drive


@dataclass(frozen=True, slots=True)
class Registration:
    """A registered store: what opens it and what it is known by."""

    opener: Callable[..., Store]
    schemes: tuple[str, ...]
    suffixes: tuple[str, ...]
    sniff: Sniff | None
    many: bool


registrations: dict[str, Registration] = {}
T = TypeVar("T", bound=Callable[..., Store])


def register(
    *schemes: str,
    suffixes: Iterable[str] = (),
    sniff: Sniff | None = None,
    many: bool = False,
) -> Callable[[T], T]:
    """Registers a store class or function, called as `opener(source, write=...)`.

    Args:
        schemes: URL schemes; a store of files gets the path instead of the URL.
        suffixes: Suffixes of new files that the store writes.
        sniff: Given for stores of files: whether a file is of the store's format.
        many: The store also takes directories and patterns that have one of its suffixes.
    """

    def add(opener: T) -> T:
        entry = Registration(opener, schemes, tuple(suffixes), sniff, many)
        registrations.update(dict.fromkeys(schemes, entry))
        return opener

    return add


def schemes() -> list[str]:
    """Returns the known URL schemes, sorted."""
    discover()
    return sorted([FILE, *registrations])


def discover() -> None:
    """Imports each module of `itemtrace.stores`, so that the stores in it are registered."""
    package = str(Path(__file__).parent.parent)
    for module in pkgutil.iter_modules([package], "itemtrace.stores."):
        importlib.import_module(module.name)


def local_store() -> str:
    """Returns the source that is meant when none is named: `ITEMTRACE_STORE` or the default."""
    named = os.environ.get("ITEMTRACE_STORE")
    return named or str(user_data_path("itemtrace", appauthor=False) / "traces.db")


@overload
def open_store(
    source: str | Path | None = None, *, write: Literal[True]
) -> WritableStore: ...
@overload
def open_store(source: str | Path | None = None, *, write: bool = False) -> Store: ...
def open_store(source: str | Path | None = None, *, write: bool = False) -> Store:
    """Returns the store of a path or URL; None is the local store.

    Args:
        source: A path, a pattern of paths, or a URL.
        write: Open it as a `WritableStore`; a file that is not there is made.

    Raises:
        SourceError: Nothing is there, or no store is known for it.
        NotATrace: The file is no trace.
    """
    discover()
    name = str(local_store() if source is None else source)
    match = URL.match(name)
    if match is None or (isinstance(source, Path)):
        return open_path(name, write=write, local=source is None)
    scheme = match.group(1).lower()
    if scheme == FILE:
        return open_path(path_of(name), write=write, local=False)
    entry = registrations.get(scheme)
    if entry is None:
        msg = (
            f"no store is known for {redact(name)}; expected a path or a URL with one of "
            f"{', '.join(schemes())}"
        )
        raise SourceError(msg, source=redact(name))
    return entry.opener(path_of(name) if entry.sniff else name, write=write)


def open_path(name: str, *, write: bool, local: bool) -> Store:
    """Returns the store of a file, directory or pattern."""
    path = Path(name).expanduser()
    if path.is_file() and path.stat().st_size:
        return by_content(path).opener(str(path), write=write)
    if write or path.exists() or any(sign in name for sign in "*?["):
        entry = by_suffix(path, reading=not write)
        return entry.opener(str(path), write=write)
    hint = (
        "nothing was recorded yet: call itemtrace.install() before the run, "
        "or try `itemtrace demo`"
        if local
        else "expected a file, a directory or a URL"
    )
    msg = f"{path} does not exist; {hint}"
    raise SourceError(msg, source=str(path))


def by_content(path: Path) -> Registration:
    """Returns the store whose format the file has."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
        size = path.stat().st_size
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}"
        raise SourceError(msg, source=str(path)) from error
    for entry in registrations.values():
        if entry.sniff is not None and entry.sniff(head, size):
            return entry
    msg = (
        f"{path} is no trace: expected an itemtrace store or OTLP as JSON lines or protobuf, "
        "plain or compressed"
    )
    raise NotATrace(msg, source=str(path))


def by_suffix(path: Path, *, reading: bool) -> Registration:
    """Returns the store for a new or empty file, a directory or a pattern."""
    found = [
        (len(suffix), entry)
        for entry in registrations.values()
        for suffix in entry.suffixes
        if path.name.lower().endswith(suffix) and (entry.many or not reading)
    ]
    if found:
        return max(found, key=lambda pair: pair[0])[1]
    if reading:
        return registrations["otlp"]
    if not path.suffix and not path.is_dir():
        return registrations["sqlite"]
    known = sorted({s for entry in registrations.values() for s in entry.suffixes})
    msg = f"{path} does not say its format; expected a name that ends in one of {', '.join(known)}"
    raise SourceError(msg, source=str(path))


def path_of(url: str) -> str:
    """Returns the path in a URL of a file: `sqlite:///abs`, `sqlite:rel`, `sqlite://rel`."""
    parts = urlsplit(url)
    return unquote(parts.netloc + parts.path)


def redact(url: str) -> str:
    """Returns a source without user, password and secrets, for messages."""
    if URL.match(url) is None:
        return url
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    query = [
        (key, "***" if SECRET.search(key) else value)
        for key, value in parse_qsl(parts.query, keep_blank_values=True)
    ]
    return urlunsplit(parts._replace(netloc=host, query=urlencode(query, safe="*")))
