"""Files behind fsspec: prefixes and patterns, files that come, change and go, and what goes wrong."""

import builtins
import gzip
import itertools

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from itemtrace.errors import MissingExtra, SourceError
from itemtrace.stores import open_store
from itemtrace.stores.otlp import write_json, write_proto
from itemtrace.stores.remote import RemoteStore
from itemtrace.testing.store_contract import run_rows, run_summary


numbers = itertools.count()
memory = MemoryFileSystem()


@pytest.fixture
def bucket():
    """Gives the name of an empty bucket in memory."""
    return f"unit-{next(numbers)}"


def put(bucket, name, content):
    """Puts a file into a bucket."""
    memory.pipe(f"/{bucket}/{name}", content)


def as_json(number):
    """Returns a run as the S3 exporter writes it."""
    return write_json(run_rows(number)).encode()


def test_a_prefix_of_the_s3_exporter(bucket):
    """All files under a prefix are one store, JSON and protobuf, plain and compressed."""
    hour = "traces/year=2026/month=11/day=30/hour=14/minute=05"
    put(bucket, f"{hour}/traces_1.json", as_json(1))
    put(bucket, f"{hour}/traces_2.binpb", write_proto(run_rows(2)))
    put(bucket, f"{hour}/traces_3.json.gz", gzip.compress(as_json(3)))
    put(bucket, f"{hour}/empty", b"")
    put(bucket, "elsewhere/traces_4.json", as_json(4))
    with open_store(f"memory://{bucket}/traces/year=2026/") as store:
        assert list(store.runs()) == [run_summary(n) for n in (3, 2, 1)]
        assert store.problems == []
    with open_store(f"memory://{bucket}/**/*.json") as store:
        assert list(store.runs()) == [run_summary(n) for n in (4, 1)]
    with open_store(f"memory://{bucket}/{hour}/traces_2.binpb") as store:
        assert list(store.runs()) == [run_summary(2)]


def test_files_come_change_and_go(bucket):
    """A store that stays open fetches what is new or changed, and forgets what is gone."""
    put(bucket, "a", as_json(1))
    with RemoteStore(f"memory://{bucket}") as store:
        assert list(store.runs()) == [run_summary(1)]
        put(bucket, "b", as_json(2))
        assert list(store.runs()) == [run_summary(2), run_summary(1)]
        put(bucket, "a", as_json(3))
        assert list(store.runs()) == [run_summary(3), run_summary(2)]
        memory.rm_file(f"/{bucket}/b")
        assert list(store.runs()) == [run_summary(3)]
        store.close()
        assert store.known == {}
        assert list(store.runs()) == [run_summary(3)]


def test_problems_have_the_name_of_the_remote_file(bucket):
    """A file that cannot be read is named as the user knows it, and the rest is read."""
    put(bucket, "good.json", as_json(1))
    put(bucket, "bad.json", b"no trace at all")
    with RemoteStore(f"memory://{bucket}") as store:
        assert list(store.runs()) == [run_summary(1)]
        assert store.problems == [
            f"/{bucket}/bad.json holds no trace; expected OTLP spans as JSON lines or protobuf"
        ]


def test_nothing_there(bucket):
    """A prefix without files is refused."""
    with (
        RemoteStore(f"memory://{bucket}/x") as store,
        pytest.raises(
            SourceError, match="holds no file; expected a file, a prefix or a pattern"
        ),
    ):
        list(store.traces())


def test_what_a_protocol_raises(bucket, monkeypatch):
    """Whatever a protocol's package raises is one error, without secrets."""
    url = f"memory://{bucket}?secret=hunter2&listings_expiry_time=1"

    def refuses(*_, **__):
        msg = "AccessDenied\nno"
        raise PermissionError(msg)

    monkeypatch.setattr(MemoryFileSystem, "find", refuses)
    with (
        RemoteStore(url) as store,
        pytest.raises(SourceError, match="PermissionError AccessDenied no") as caught,
    ):
        list(store.runs())
    assert "hunter2" not in str(caught.value)


def test_any_protocol_by_its_name(tmp_path):
    """A protocol of fsspec can be named as such."""
    (tmp_path / "a.json").write_bytes(as_json(1))
    with open_store(f"fsspec+file://{tmp_path}") as store:
        assert list(store.runs()) == [run_summary(1)]


def test_only_read():
    """Opening it to write says what to do instead."""
    with pytest.raises(SourceError, match="can only be read; write to a file"):
        open_store("memory://x", write=True)
    open_store("memory://x").close()


@pytest.mark.parametrize(
    ("url", "missing", "extra"),
    [
        ("memory://x", "fsspec", "fsspec"),
        ("s3://x", "fsspec", "s3"),
        ("s3://x", "s3fs", "s3"),
        ("fsspec+smb://host/x", "smbprotocol", "fsspec"),
    ],
)
def test_what_is_not_installed(monkeypatch, url, missing, extra):
    """The error names the extra that brings the protocol's package."""
    real = builtins.__import__

    def without(name, *rest):
        if name == missing:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    if missing == "s3fs":
        monkeypatch.setattr("fsspec.core.url_to_fs", raises_import_error)
    with pytest.raises(MissingExtra, match=rf"itemtrace\[{extra}\]"):
        open_store(url)


def raises_import_error(*_, **__):
    """What fsspec does where a protocol's package is not there."""
    msg = "Install s3fs to access S3"
    raise ImportError(msg)
