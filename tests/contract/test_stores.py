"""Every store passes the one contract."""

import pytest

from itemtrace.testing.store_contract import StoreContract


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
