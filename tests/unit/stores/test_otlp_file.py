"""OTLP files as Collectors, backends, crashes and people leave them."""

import gzip
import json
import os
import resource
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import zstandard

from itemtrace.errors import MissingExtra, NotATrace, SourceError
from itemtrace.stores import Query, open_store
from itemtrace.stores.otlp import write_json, write_proto
from itemtrace.stores.otlp_file import OtlpFileStore, layout
from itemtrace.stores.otlp_file.append import write_all
from itemtrace.testing.store_contract import by_span, row, run_rows, run_summary


def gz(raw):
    """Compresses without a time stamp: parameter ids must be the same in every process."""
    return gzip.compress(raw, mtime=0)


ROWS = [row(1, 1), row(2, 1), row(1, 2)]
EXPECTED = {2: [row(2, 1)], 1: [row(1, 1), row(1, 2)]}


def line(*rows):
    """A line of a file."""
    return write_json(rows).encode() + b"\n"


def prefixed(*messages):
    """Messages with their length in front."""
    return b"".join(len(m).to_bytes(4, "big") + m for m in messages)


def zstd(data):
    """One zstd frame, without its size, as a stream writes it."""
    compressor = zstandard.ZstdCompressor().compressobj()
    return compressor.compress(data) + compressor.flush()


def read(source):
    """The rows of a source by number of the trace, and its problems."""
    with open_store(source) as store:
        found = {int(trace, 16): by_span(rows) for trace, rows in store.traces()}
        return found, store.problems


LINES = line(ROWS[0], ROWS[1]) + line(ROWS[2])
PROTO = [write_proto(ROWS[:2]), write_proto(ROWS[2:])]
DOCUMENT = json.dumps(json.loads(write_json(ROWS)), indent=2).encode()

FORMATS = {
    "lines": LINES,
    "lines, no newline at the end": LINES.rstrip(),
    "lines, blank ones between": b"\n" + LINES.replace(b"\n", b"\r\n\n"),
    "lines after a byte order mark": b"\xef\xbb\xbf" + LINES,
    "lines and other signals": b'{"resourceLogs":[]}\n' + LINES,
    "gzip": gz(LINES),
    "gzip, several members": gz(line(*ROWS[:2])) + gz(line(ROWS[2])),
    "zstd": zstd(LINES),
    "zstd, several frames": zstd(line(*ROWS[:2])) + zstd(line(ROWS[2])),
    "document": DOCUMENT,
    "document, gzip": gz(DOCUMENT),
    "document, one line": write_json(ROWS).encode(),
    "message": write_proto(ROWS),
    "prefixed": prefixed(*PROTO),
    "prefixed, an empty message": prefixed(*PROTO, b""),
    "prefixed, zstd inside": prefixed(*map(zstd, PROTO)),
    "prefixed, gzip inside": prefixed(*map(gz, PROTO)),
    "prefixed, JSON in zstd": prefixed(zstd(LINES.split(b"\n")[0]), zstd(line(ROWS[2]))),
    "prefixed, zstd around": zstd(prefixed(*PROTO)),
    "message, zstd around": zstd(write_proto(ROWS)),
}  # fmt: skip


@pytest.mark.parametrize("content", FORMATS.values(), ids=FORMATS)
def test_every_format(tmp_path, content):
    """A file is read by its content, whatever its name."""
    path = tmp_path / "traces.out"
    path.write_bytes(content)
    assert read(path) == ({n: by_span(rows) for n, rows in EXPECTED.items()}, [])


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (LINES + line(row(3, 1))[:-20], "message 3 is half-written: it ends after"),
        (LINES + b"\n{torn\n" + line(row(9, 1)), "message 3 (6 bytes) cannot be read"),
        (LINES + b'{"hello":1}\n', "message 3 (12 bytes) cannot be read: it is JSON"),
        (LINES + b"[" * 100_000 + b"\n", "message 3 (100001 bytes) cannot be read"),
        (gz(LINES) + gz(LINES)[:30], "the gzip data is cut"),
        (gz(LINES) + b"garbage!", "the gzip data is damaged near byte"),
        (zstd(LINES) + zstd(LINES)[:-4], "the zstd data is cut"),
        (zstd(LINES) + b"garbage!", "the zstd data is damaged near byte"),
        (prefixed(*PROTO) + b"\0\0\1\0abc", "is cut: 3 of 256 bytes are there"),
        (prefixed(*PROTO) + b"\0\0", "is cut: 0 of 0 bytes are there"),
        (prefixed(*PROTO, b"\xff\xff"), "message 3 (2 bytes) cannot be read: 2 bytes"),
        (prefixed(*PROTO, zstd(PROTO[0])[:-3]), "its zstd data is cut"),
        (prefixed(*PROTO, layout.ZSTD + b"\xff" * 20), "its zstd data is damaged"),
    ],
)
def test_damage_is_named_and_the_rest_is_read(tmp_path, content, problem):
    """What cannot be read is one line with the file's name; the rest is there."""
    path = tmp_path / "traces.out"
    path.write_bytes(content)
    found, problems = read(path)
    found.pop(9, None)
    assert found == {n: by_span(rows) for n, rows in EXPECTED.items()}
    assert all(text.startswith(f"{path}: ") for text in problems)
    assert problem in problems[0]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"hello": 1}\n{"more": 2}\n', "it is JSON without resourceSpans"),
        (b'{"resourceLogs": []}\n', "holds no trace; expected OTLP"),
        (b"{torn", "half-written"),
        (b"{\n torn,\n", "cannot be read"),
        (gz(b"hello"), "holds no trace; expected OTLP"),
        (b"\x1f\x8b garbage", "the gzip data is damaged"),
        (zstd(LINES)[:9], "the zstd data is cut"),
        (b"\n\x03\x01\x02\x03", "no OTLP protobuf"),
        (gz(b""), None),
    ],
)
def test_a_file_without_any_trace(tmp_path, content, reason):
    """A file in which nothing is a trace is refused, with the first reason."""
    path = tmp_path / "traces.out"
    path.write_bytes(content)
    if reason is None:
        assert read(path) == ({}, [])
        return
    with pytest.raises(NotATrace, match=reason):
        read(path)


def test_a_payload_without_spans(tmp_path):
    """An empty request is a trace file that holds nothing."""
    path = tmp_path / "traces.jsonl"
    path.write_text('{"resourceSpans":[]}\n')
    assert read(path) == ({}, [])


def test_a_value_nested_too_deep(tmp_path):
    """A value that nests deeper than can be followed is a problem, not a crash."""
    depth = 20_000
    value = '{"arrayValue":{"values":[' * depth + "{}" + "]}}" * depth
    span = f'{{"traceId":"{3:032x}","attributes":[{{"key":"k","value":{value}}}]}}'
    deep = f'{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{span}]}}]}}]}}\n'
    path = tmp_path / "traces.jsonl"
    path.write_bytes(LINES + deep.encode())
    found, problems = read(path)
    assert found == {n: by_span(rows) for n, rows in EXPECTED.items()}
    assert [("recursion" in text) for text in problems] == [True]


def test_a_message_that_changed_meanwhile(tmp_path):
    """A message that is not what the first pass saw is a problem, not a crash."""
    path = tmp_path / "traces.jsonl"
    path.write_bytes(line(row(1, 1)) + line(row(2, 1)))
    with open_store(path) as store:
        traces = store.traces()
        assert list(next(traces)[1]) == [row(2, 1)]
        path.write_bytes(b"x" * path.stat().st_size)
        assert [list(rows) for _, rows in traces] == [[]]
        assert [text.partition(" cannot")[0] for text in store.problems] == [
            f"{path}: the message at byte 0"
        ]


class TestManyFiles:
    """A directory or pattern of files is one store."""

    @pytest.fixture
    def directory(self, tmp_path):
        """Gives a directory as rotation and a bucket leave it, one trace over two files."""
        inside = tmp_path / "year=2026" / "month=11"
        inside.mkdir(parents=True)
        (tmp_path / "traces.jsonl").write_bytes(line(ROWS[0]))
        (inside / "traces-2026-11-30T05-02-14.173.json").write_bytes(line(ROWS[1]))
        (inside / "traces.pb.zst").write_bytes(prefixed(zstd(PROTO[1])))
        (tmp_path / ".hidden").write_bytes(b"no")
        (tmp_path / "empty.jsonl").touch()
        return tmp_path

    def test_directory(self, directory):
        """All files below a directory are read, hidden ones left out."""
        expected = {n: by_span(rows) for n, rows in EXPECTED.items()}
        assert read(directory) == (expected, [])

    def test_pattern(self, directory):
        """A pattern selects files, across directories too."""
        found, _ = read(f"{directory}/**/*.json*")
        assert found == {2: [row(2, 1)], 1: [row(1, 1)]}

    def test_what_is_no_trace(self, directory):
        """A file among others that is no trace is a problem, and the rest is read."""
        (directory / "README").write_text("hello\n")
        (directory / "other.jsonl").write_text('{"hello":1}\n')
        found, problems = read(directory)
        assert found == {n: by_span(rows) for n, rows in EXPECTED.items()}
        assert [text.split(" holds ")[0] for text in problems] == [
            str(directory / "README"),
            str(directory / "other.jsonl"),
        ]

    def test_nothing_matches(self, tmp_path):
        """A pattern or directory without files is refused."""
        for source in (tmp_path, tmp_path / "*.jsonl"):
            with pytest.raises(SourceError, match="matches no file"):
                open_store(source)

    def test_no_writing(self, directory):
        """A directory is not written to."""
        with pytest.raises(SourceError, match="is a directory; expected a file"):
            OtlpFileStore(directory, write=True)

    def test_a_file_that_goes_away(self, directory):
        """A file that vanishes while it is read is one clear line."""
        with open_store(directory) as store:
            traces = store.traces()
            _, rows = next(traces)
            (
                directory / "year=2026/month=11/traces-2026-11-30T05-02-14.173.json"
            ).unlink()
            with pytest.raises(SourceError, match=r"173\.json cannot be read"):
                list(rows)


@contextmanager
def files_of_at_most(size):
    """Lets no file grow beyond a size, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class TestWriting:
    """Batches are appended; a torn end never takes a later batch with it."""

    def test_only_the_owner_may_read(self, tmp_path):
        """A file that is made is the owner's alone."""
        path = tmp_path / "new" / "traces.jsonl"
        with open_store(path, write=True) as store:
            store.write(ROWS)
        assert path.stat().st_mode & 0o777 == 0o600

    def test_lines_are_what_a_collector_reads(self, tmp_path):
        """At most 512 spans a line, one line a batch, each a request."""
        path = tmp_path / "traces.jsonl"
        with open_store(path, write=True) as store:
            assert store.write(row(1, n) for n in range(600)) == 600
            assert store.write([]) == 0
        lines = path.read_bytes().split(b"\n")
        counts = [
            len(json.loads(text)["resourceSpans"][0]["scopeSpans"][0]["spans"])
            for text in lines[:-1]
        ]
        assert (counts, lines[-1]) == ([512, 88], b"")

    def test_after_a_torn_line(self, tmp_path):
        """A batch after a half-written line is whole; the torn line is a problem."""
        path = tmp_path / "traces.jsonl"
        path.write_bytes(line(ROWS[0]) + line(ROWS[1])[:-30])
        with open_store(path, write=True) as store:
            store.write([ROWS[2]])
        found, problems = read(path)
        assert found == {1: by_span([ROWS[0], ROWS[2]])}
        assert len(problems) == 1

    @pytest.mark.parametrize(
        "content",
        [
            gz(LINES),
            zstd(LINES),
            prefixed(*PROTO),
            prefixed(*map(zstd, PROTO)),
            prefixed(*map(gz, PROTO)),
            LINES,
        ],
    )
    def test_a_file_goes_on_in_its_format(self, tmp_path, content):
        """A file of any name is continued as it began."""
        path = tmp_path / "traces.out"
        path.write_bytes(content)
        with open_store(path, write=True) as store:
            store.write([row(3, 1)])
        assert path.read_bytes().startswith(content)
        expected = {3: [row(3, 1)], **EXPECTED}
        assert read(path) == ({n: by_span(rows) for n, rows in expected.items()}, [])

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (DOCUMENT, "one whole document"),
            (write_proto(ROWS), "one whole document"),
            (prefixed(*PROTO)[:-5], "is cut"),
            (gz(LINES)[:-5], "is cut"),
            (zstd(LINES)[:-5], "is cut"),
            (zstd(LINES) + b"garbage!", "is damaged"),
            (gz(prefixed(*PROTO)), "no JSON lines"),
        ],
    )
    def test_a_file_that_cannot_go_on(self, tmp_path, content, reason):
        """A file to which nothing can be added is refused and left as it is."""
        path = tmp_path / "traces.out"
        path.write_bytes(content)
        with pytest.raises(SourceError, match=f"cannot be continued: .*{reason}"):
            open_store(path, write=True)
        assert path.read_bytes() == content

    def test_a_reader_does_not_write(self, tmp_path):
        """A store opened to read takes no rows."""
        path = tmp_path / "traces.jsonl"
        path.write_bytes(LINES)
        with open_store(path) as store:
            assert isinstance(store, OtlpFileStore)
            with pytest.raises(SourceError, match="opened to read"):
                store.write(ROWS)

    def test_no_place(self, tmp_path):
        """A path through a file is refused."""
        (tmp_path / "file").touch()
        with (
            OtlpFileStore(tmp_path / "file" / "traces.jsonl", write=True) as store,
            pytest.raises(SourceError, match="cannot be written"),
        ):
            store.write(ROWS)

    def test_a_full_disk(self, tmp_path):
        """A batch that does not fit is taken back whole."""
        path = tmp_path / "traces.jsonl"
        with open_store(path, write=True) as store:
            store.write([row(1, 1)])
            with (
                files_of_at_most(20_000),
                pytest.raises(SourceError, match="could not be written"),
            ):
                store.write([row(2, 1, attributes={"x": "y" * 50_000})])
            store.write([row(3, 1)])
        assert read(path) == ({3: [row(3, 1)], 1: [row(1, 1)]}, [])


def test_what_another_process_wrote_is_not_taken_back(tmp_path):
    """When a write fails and the file has grown meanwhile, nothing is cut off."""
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"x" * 1_000)
    file = os.open(path, os.O_RDWR | os.O_APPEND)
    with files_of_at_most(1_500), pytest.raises(OSError, match="too large"):
        write_all(file, 900, b"y" * 1_000)
    os.close(file)
    assert path.stat().st_size == 1_500


def test_without_zstandard(tmp_path, monkeypatch):
    """Where zstandard is missing, the extra that installs it is named."""
    path = tmp_path / "traces.zst"
    path.write_bytes(zstd(LINES))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with (
        open_store(path) as store,
        pytest.raises(MissingExtra, match=r"itemtrace\[zstd\]"),
    ):
        list(store.traces())


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    """A file without permission is one clear line."""
    path = tmp_path / "traces.jsonl"
    path.write_bytes(LINES)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SourceError, match="cannot be read: Permission denied"):
        open_store(path)


def test_messages_read_lately_are_kept(tmp_path, monkeypatch):
    """Traces that share messages cost one reading of each, within a bound."""
    monkeypatch.setattr("itemtrace.stores.otlp_file.KEPT_BYTES", 3_000)
    path = tmp_path / "traces.jsonl"
    path.write_bytes(
        b"".join(line(*(row(t, s) for t in range(1, 9))) for s in range(1, 5))
    )
    with open_store(path) as store:
        assert isinstance(store, OtlpFileStore)
        for trace, rows in store.traces():
            number = int(trace, 16)
            assert by_span(rows) == [row(number, s) for s in range(1, 5)]
            assert 1 <= len(store.kept) <= 2


def test_a_trace_is_not_read_for_another(tmp_path):
    """One trace by its id decodes only the messages that hold it."""
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"".join(line(row(t, 1)) for t in range(1, 50)))
    with open_store(path) as store:
        assert isinstance(store, OtlpFileStore)
        ((_, rows),) = store.traces(Query(trace_ids=(f"{7:032x}",)))
        assert list(rows) == [row(7, 1)]
        assert len(store.kept) == 1


def test_runs_of_a_collector_file(tmp_path):
    """Runs are found in a file that nothing of ours wrote an index for."""
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"".join(line(piece) for n in (1, 2) for piece in run_rows(n)))
    with open_store(path) as store:
        assert list(store.runs()) == [run_summary(2), run_summary(1)]


def test_a_50_mb_attribute(tmp_path):
    """An attribute of 50 MB comes back, from each kind of file."""
    huge = row(1, 1, attributes={"huge": "0123456789" * 5_000_000})
    for suffix in (".jsonl.gz", ".pb.zst"):
        path = tmp_path / f"traces{suffix}"
        with open_store(path, write=True) as store:
            store.write([huge])
        assert read(path) == ({1: [huge]}, [])


def test_memory_is_bounded_by_the_largest_trace(tmp_path):
    """Reading 60 MB of traces, compressed, takes a fraction of that."""
    path = tmp_path / "traces.jsonl.zst"
    with open_store(path, write=True) as store:
        for n in range(1, 601):
            store.write([row(n, 1, attributes={"x": os.urandom(50_000).hex()})])
    script = """
import resource, sys
from itemtrace.stores import open_store
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
with open_store(sys.argv[1]) as store:
    before = peak()
    spans = sum(1 for _, rows in store.traces() for _ in rows)
    print(spans, peak() - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    spans, grown = map(int, done.stdout.split())
    assert spans == 600
    assert grown < 60_000_000


def test_no_zstd_frame_in_text():
    """What a file may be is decided by its first bytes alone."""
    assert layout.layout_of(b"", 0) is None
    assert layout.layout_of(b"\0\0\0\0\n", 5) is None
    assert layout.layout_of(b"abcd{", 5) is None
    assert layout.layout_of(b"\n\n\n", 3) is None
