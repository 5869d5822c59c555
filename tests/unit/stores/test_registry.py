"""A path or URL finds its store, or one clear line says why not."""

from pathlib import Path

import pytest

from itemtrace.errors import NotATrace, SourceError
from itemtrace.stores import open_store
from itemtrace.stores.base import local_store, path_of, redact, register, schemes
from itemtrace.stores.base.registry import registrations
from itemtrace.stores.otlp_file import OtlpFileStore
from itemtrace.stores.sqlite import SqliteStore
from itemtrace.testing.store_contract import row


@pytest.fixture
def local(tmp_path, monkeypatch):
    """Gives the path of the local store, not there yet."""
    path = tmp_path / "data" / "traces.db"
    monkeypatch.setenv("ITEMTRACE_STORE", str(path))
    return path


def kind_of(source, *, write=False):
    """The class of the store that is opened."""
    with open_store(source, write=write) as store:
        return type(store)


def test_no_source_is_the_local_store(local):
    """Without a source the local store is opened, and made when it is written."""
    assert kind_of(None, write=True) is SqliteStore
    assert local.exists()
    assert kind_of(None) is SqliteStore


def test_the_local_store_may_be_a_url(tmp_path, monkeypatch):
    """ITEMTRACE_STORE takes whatever a source may be."""
    monkeypatch.setenv("ITEMTRACE_STORE", f"otlp:{tmp_path}/traces.jsonl")
    assert kind_of(None, write=True) is OtlpFileStore


def test_the_default_is_in_the_users_data_directory(monkeypatch):
    """Without ITEMTRACE_STORE the file is where the system keeps a user's data."""
    monkeypatch.delenv("ITEMTRACE_STORE", raising=False)
    path = Path(local_store())
    assert (path.name, path.parent.name) == ("traces.db", "itemtrace")


def test_nothing_recorded_yet(local):
    """Reading a local store that is not there says how to record, and makes nothing."""
    with pytest.raises(SourceError, match=r"nothing was recorded yet.*install"):
        open_store()
    assert not local.parent.exists()


def test_a_file_that_is_not_there(tmp_path):
    """A path that does not exist is named."""
    with pytest.raises(SourceError, match=r"nowhere\.jsonl does not exist; expected"):
        open_store(tmp_path / "nowhere.jsonl")


def test_an_unknown_scheme_lists_the_known():
    """A URL of no store is refused with what is known, and without its password."""
    with pytest.raises(SourceError) as caught:
        open_store("gopher://me:hunter2@host/x?token=hunter2")
    known = ", ".join(schemes())
    assert str(caught.value) == (
        "no store is known for gopher://host/x?token=***; expected a path or a URL with one of "
        f"{known}"
    )
    assert {"file", "otlp", "sqlite"} <= set(schemes())


@pytest.mark.parametrize("suffix", [".db", ".jsonl", ".pb", ".jsonl.gz", ".pb.zst"])
@pytest.mark.parametrize("prefix", ["", "file://", "file:"])
def test_a_file_is_known_by_its_content(tmp_path, suffix, prefix):
    """The name of a file that is read says nothing; its first bytes do."""
    path = tmp_path / f"traces{suffix}"
    with open_store(path, write=True) as store:
        store.write([row(1, 1)])
    renamed = path.rename(tmp_path / "renamed.data")
    with open_store(f"{prefix}{renamed}") as store:
        assert type(store) is (SqliteStore if suffix == ".db" else OtlpFileStore)
        assert [trace for trace, _ in store.traces()] == [f"{1:032x}"]


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("sqlite://{}/a.data", SqliteStore),
        ("SQLITE:{}/a.data", SqliteStore),
        ("otlp://{}/a.data", OtlpFileStore),
        ("{}/a", SqliteStore),
        ("{}/a.sqlite3", SqliteStore),
        ("{}/A.JSONL", OtlpFileStore),
        ("{}/a.json.zst", OtlpFileStore),
    ],
)
def test_a_new_file_by_scheme_or_suffix(tmp_path, url, kind):
    """A file that is made gets the format of its scheme, else of its suffix."""
    assert kind_of(url.format(tmp_path), write=True) is kind


def test_a_new_file_of_no_known_suffix(tmp_path):
    """A suffix that says nothing is refused with those that do."""
    with pytest.raises(
        SourceError, match=r"expected a name that ends in one of .*\.db"
    ):
        open_store(tmp_path / "traces.txt", write=True)


@pytest.mark.parametrize(
    "content", [b"hello\n", b"\x7fELF\x02\x01", b"PK\x03\x04", b"\xff\xfe{"]
)
def test_a_file_that_is_no_trace(tmp_path, content):
    """Other files are refused with what was expected."""
    path = tmp_path / "other.bin"
    path.write_bytes(content)
    with pytest.raises(NotATrace, match=r"other\.bin is no trace: expected"):
        open_store(path)


def test_an_empty_file_is_an_empty_store(tmp_path):
    """A file without content holds no trace and is no error."""
    path = tmp_path / "empty.jsonl"
    path.touch()
    with open_store(path) as store:
        assert list(store.traces()) == []
        assert list(store.runs()) == []
        assert store.problems == []


def test_a_store_of_ones_own():
    """One registration makes a scheme known; the store gets the whole URL."""
    seen = []

    @register("mine")
    class MyStore(OtlpFileStore):
        def __init__(self, source, *, write=False):
            seen.append((source, write))

    try:
        open_store("mine://host/x?y=1")
    finally:
        del registrations["mine"]
    assert seen == [("mine://host/x?y=1", False)]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("jaeger://user:pass@host:1/x", "jaeger://host:1/x"),
        ("tempo://host?api_key=1&Token=2&password=3&auth=4&a=b", None),
        ("/plain/path@x?token=1", "/plain/path@x?token=1"),
        ("tempo://host", "tempo://host"),
        ("tempo://a@b@host/p", "tempo://host/p"),
    ],
)
def test_credentials_are_not_shown(url, shown):
    """User, password and secrets of the query never reach a message."""
    shown = shown or "tempo://host?api_key=***&Token=***&password=***&auth=***&a=b"
    assert redact(url) == shown


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///a/b.db", "/a/b.db"),
        ("sqlite:b.db", "b.db"),
        ("sqlite://b.db", "b.db"),
        ("file:///a%20b", "/a b"),
    ],
)
def test_path_of_url(url, path):
    """Absolute and relative paths stand in a URL."""
    assert path_of(url) == path
