"""Every store passes the one contract."""

import itertools

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from itemtrace.stores.clickhouse import ClickHouseStore
from itemtrace.stores.otlp import write_json
from itemtrace.testing.kafka import brokers, export
from itemtrace.testing.otel_traces import Layout, create, embedded, insert, kept
from itemtrace.testing.store_contract import StoreContract, row


numbers = itertools.count()


class TestSqlite(StoreContract):
    """The local store."""

    @pytest.fixture
    def source(self, tmp_path):
        """Gives a database that is not there yet."""
        return tmp_path / "traces.db"


@pytest.mark.parametrize(
    "suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst", ".pb", ".pb.gz", ".pb.zst"]
)
class TestOtlpFile(StoreContract):
    """OTLP files in every format that is written."""

    @pytest.fixture
    def source(self, tmp_path, suffix):
        """Gives a file that is not there yet."""
        return tmp_path / f"traces{suffix}"


class TestParquetFile(StoreContract):
    """One Parquet file, written anew by each write."""

    @pytest.fixture
    def source(self, tmp_path):
        """Gives a file that is not there yet."""
        return tmp_path / "traces.parquet"


class TestParquetDirectory(StoreContract):
    """A directory of Parquet files, one for each write."""

    @pytest.fixture
    def source(self, tmp_path):
        """Gives an empty directory."""
        path = tmp_path / "traces.parquet"
        path.mkdir()
        return path


@pytest.mark.parametrize("layout", list(Layout), ids=lambda layout: layout.name)
class TestClickHouse(StoreContract):
    """The Collector's table in ClickHouse, in process."""

    @pytest.fixture
    def source(self, layout):
        """Gives a database of its own with an empty table."""
        database = f"db{next(numbers)}"
        create(embedded(), database, layout)
        yield f"clickhouse://localhost/{database}"
        embedded().command(f"DROP DATABASE {database}")

    @pytest.fixture(autouse=True)
    def filled_as(self, layout):
        """Says how rows are inserted."""
        self.layout = layout

    def kept(self, row):
        """Values are text with map columns; dropped counts are not kept."""
        return kept(row, self.layout)

    def test_odd_values(self, source):
        """A NaN breaks its batch where columns are JSON; else types are not kept."""
        if self.layout is Layout.JSON:
            with pytest.raises(ValueError, match="JSON compliant"):
                self.fill(source, [row(1, 1, attributes={"nan": float("nan")})])
        else:
            super().test_odd_values(source)

    def open(self, source):
        """Opens the store on the embedded ClickHouse."""
        return ClickHouseStore(source, client=embedded())

    def fill(self, source, rows):
        """Inserts rows as the Collector does."""
        insert(embedded(), source.rpartition("/")[2], rows, self.layout)


@pytest.mark.parametrize("json", [False, True], ids=["proto", "json"])
class TestKafka(StoreContract):
    """A topic of the Collector's Kafka exporter."""

    @pytest.fixture
    def source(self, json):
        """Gives the URL of a topic that is not there yet."""
        self.json = json
        return f"kafka://{brokers()}/spans-{next(numbers)}"

    def fill(self, source, rows):
        """Sends rows as the Collector does."""
        export(source.rpartition("/")[2], rows, json=self.json)


class TestRemote(StoreContract):
    """A prefix of OTLP files behind fsspec."""

    @pytest.fixture
    def source(self):
        """Gives the URL of a prefix that is not there yet."""
        return f"memory://contract-{next(numbers)}/spans"

    def fill(self, source, rows):
        """Adds a file, as the S3 exporter does."""
        path = f"{source.removeprefix('memory:/')}/{next(numbers)}.json"
        MemoryFileSystem().pipe(path, write_json(rows).encode())
