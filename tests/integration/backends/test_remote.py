"""S3: what the Collector's S3 exporter would have put there comes back over the real protocol."""

import gzip
import itertools

import boto3
import pytest
from moto.server import ThreadedMotoServer

import itemtrace
from itemtrace.rebuild import rebuild
from itemtrace.stores.otlp import write_json, write_proto


names = itertools.count()


@pytest.fixture(scope="module")
def endpoint():
    """Runs an S3 server."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(endpoint, monkeypatch):
    """Makes a bucket; gives its name, and a function that puts an object there."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    client = boto3.client("s3", endpoint_url=endpoint)
    name = f"bucket-{next(names)}"
    client.create_bucket(Bucket=name)
    yield name, lambda key, body: client.put_object(Bucket=name, Key=key, Body=body)
    client.close()


def test_the_demo_comes_back(recorded_demo, bucket, endpoint):
    """The demo in three objects, of every kind that the exporter writes, is exact."""
    name, put = bucket
    rows = recorded_demo.rows
    third = len(rows) // 3
    hour = "spans/year=2026/month=11/day=30/hour=14/minute=05"
    put(f"{hour}/traces_1.json", write_json(rows[:third]).encode())
    put(
        f"{hour}/traces_2.json.gz",
        gzip.compress(write_json(rows[third : 2 * third]).encode()),
    )
    put(f"{hour}/traces_3.binpb", write_proto(rows[2 * third :]))
    source = f"s3://{name}/spans?endpoint_url={endpoint}"
    assert itemtrace.load(source) == recorded_demo.ledger


def test_hard_values_come_back(hard_rows, bucket, endpoint):
    """No value that is hard to store changes a ledger."""
    name, put = bucket
    put("spans.json", write_json(hard_rows).encode())
    found = itemtrace.load(f"s3://{name}/spans.json?endpoint_url={endpoint}")
    assert found == rebuild(hard_rows)
    assert found.exact
