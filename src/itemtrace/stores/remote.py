# pyright: basic, reportMissingTypeStubs=false
"""OTLP files anywhere that fsspec reaches: S3, GCS, Azure, HTTP, SFTP, memory.

    s3://bucket/traces/year=2026/month=11/       a prefix with all files under it
    gs://bucket/traces/**/*.json.gz              a pattern
    fsspec+sftp://host/var/otel/spans.jsonl      any protocol of fsspec by its name

As the Collector's S3 exporter writes them, or its file exporter: JSON or protobuf, plain or
compressed. Files are fetched into a temporary directory, each once. Credentials are those of the
protocol's package (`AWS_ACCESS_KEY_ID` and the like); options in the URL go to it
(`s3://bucket/x?endpoint_url=http://localhost:9000&anon=true`).
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from itemtrace.errors import ItemTraceError, MissingExtra, SourceError
from itemtrace.stores.base import Capabilities, SpooledStore, redact, register


if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


SCHEMES: Final = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "memory")
ANY: Final = "fsspec+"
OTHERS: Final = (
    "file",
    "ftp",
    "github",
    "hdfs",
    "http",
    "https",
    "sftp",
    "smb",
    "webhdfs",
)
WORDS: Final = {"true": True, "false": False}
UNLIKE: Final = "*?["


@register(*SCHEMES, *(f"{ANY}{name}" for name in (*OTHERS, *SCHEMES)))
class RemoteStore(SpooledStore):
    """Files behind fsspec; see the module."""

    capabilities = Capabilities(exact=True)

    def __init__(self, source: str, *, write: bool = False) -> None:
        """Opens the store; it connects when it is read.

        Args:
            source: The URL.
            write: Refused.

        Raises:
            MissingExtra: fsspec, or what it needs for the protocol, is not installed.
            SourceError: It was to be opened for writing, or has options that cannot be used.
        """
        super().__init__(redact(source))
        if write:
            msg = f"{self.url} can only be read; write to a file and copy it there"
            raise SourceError(msg, source=self.url)
        parts = urlsplit(source.removeprefix(ANY))
        self.pattern = urlunsplit(parts._replace(query="", fragment=""))
        self.options = {
            name: WORDS.get(value.lower(), value)
            for name, value in parse_qsl(parts.query)
        }
        self.known: dict[str, str] = {}
        with self.errors():
            self.files, self.path = fsspec(parts.scheme).core.url_to_fs(
                self.pattern, **self.options
            )

    @contextmanager
    def errors(self) -> Generator[None]:
        """Turns whatever a protocol's package raises into one error of ours.

        Raises:
            MissingExtra: The package is not installed.
            SourceError: The files cannot be listed or read.
        """
        try:
            yield
        except ImportError as error:
            s3 = self.pattern.startswith("s3")
            scheme = urlsplit(self.pattern).scheme
            package = "s3fs" if s3 else f"what fsspec needs for {scheme} ({error})"
            raise MissingExtra(package, "s3" if s3 else "fsspec") from error
        except Exception as error:  # each protocol has exceptions of its own
            if isinstance(error, ItemTraceError):
                raise
            said = " ".join(f"{type(error).__name__} {error}".split())[:300]
            msg = (
                f"{self.url} cannot be read: {said}; look at the URL, and at the credentials that "
                "its protocol takes from the environment"
            )
            raise SourceError(msg, source=self.url) from error

    def listed(self) -> dict[str, str]:
        """Returns the files of the source and what tells a changed one.

        Raises:
            SourceError: There is none.
        """
        self.files.invalidate_cache()
        path = self.path
        if any(sign in path for sign in UNLIKE):
            found = self.files.glob(path, detail=True)
        else:
            found = self.files.find(path, detail=True)
        files = {
            name: version(info)
            for name, info in found.items()
            if info.get("type") == "file" and info.get("size") != 0
        }
        if not files:
            msg = f"{self.url} holds no file; expected a file, a prefix or a pattern"
            raise SourceError(msg, source=self.url)
        return files

    def fetch(self, directory: Path) -> None:
        """Fetches the files that are new or changed, and drops those that are gone."""
        with self.errors():
            files = self.listed()
            for name in [one for one in self.known if one not in files]:
                local(directory, name).unlink()
                del self.known[name]
            for name, seen in files.items():
                if self.known.get(name) != seen:
                    self.files.get_file(name, str(local(directory, name)))
                    self.known[name] = seen

    def note(self) -> None:
        """Tells the problems by the names of the remote files."""
        super().note()
        names = {local_name(name): name for name in self.known}
        for number, text in enumerate(self.problems):
            for short, name in names.items():
                if short in text:
                    self.problems[number] = text.replace(f"{self.url}/{short}", name)

    def forget(self) -> None:
        """Fetches everything again."""
        self.known.clear()


def local_name(name: str) -> str:
    """Returns the name of a fetched file: its own could be anything."""
    return f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.otlp"


def local(directory: Path, name: str) -> Path:
    """Returns where a fetched file is."""
    return directory / local_name(name)


def version(info: dict[str, Any]) -> str:
    """Returns what changes when a file does."""
    marks = ("ETag", "etag", "md5Hash", "LastModified", "mtime", "created", "size")
    return repr([info.get(mark) for mark in marks])


def fsspec(protocol: str) -> Any:
    """Returns the module `fsspec`.

    Args:
        protocol: What it is needed for.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import fsspec as module
    except ImportError as error:
        package = "fsspec"
        extra = "s3" if protocol.startswith("s3") else "fsspec"
        raise MissingExtra(package, extra) from error
    return module
