"""The configuration that is shipped in `dashboards/`, with the real servers."""

import json
import subprocess
import time

import pytest

import itemtrace
from itemtrace import semconv
from itemtrace.codec.spans import SpanRow
from itemtrace.stores import Query, open_store
from itemtrace.stores.base import plain_row
from itemtrace.stores.http import Http, endpoint_of
from itemtrace.stores.otlp import read_proto
from itemtrace.testing import servers


@pytest.fixture
def jaeger_config(root):
    """Gives the directory of Jaeger's configuration."""
    return root / "dashboards" / "jaeger"


@pytest.fixture
def collector_config(root):
    """Gives the directory of the Collector's configuration."""
    return root / "dashboards" / "collector"


def get(server, port, path="/"):
    """Returns the text at a path of a server."""
    endpoint = endpoint_of(f"http://{server.address(port)}", port=80, environ={})
    return Http(endpoint).get(path, accept="*/*").body.decode()


def until(condition, seconds=30):
    """Waits until a condition holds, and returns whether it does."""
    end = time.monotonic() + seconds
    while not (held := condition()) and time.monotonic() < end:
        time.sleep(0.1)
    return held


@pytest.mark.backend("jaeger")
class TestJaeger:
    """`dashboards/jaeger`."""

    async def test_in_memory(self, jaeger_binary, jaeger_config, send_demo):
        """It starts as shipped, takes a run and gives it back; the page has our configuration."""
        environ = {"JAEGER_UI_CONFIG": str(jaeger_config / "ui.json")}
        shipped = jaeger_config / "jaeger.yaml"
        with servers.jaeger(jaeger_binary, shipped, environ=environ) as jaeger:
            demo = await send_demo(jaeger)
            url = f"jaeger://{jaeger.address('query')}"
            assert until(lambda: has_all(url, demo))
            ledgers = [itemtrace.load(url, trace_id=id_) for id_ in demo.trace_ids]
            page = get(jaeger, "query")
        assert demo.differences(ledgers) == []
        _, _, config = page.partition("JAEGER_CONFIG = ")
        found, _ = json.JSONDecoder().raw_decode(config)
        assert found == json.loads((jaeger_config / "ui.json").read_text())

    @pytest.mark.parametrize("api", ["v3", "legacy"])
    async def test_on_disk(
        self, jaeger_binary, jaeger_config, send_demo, send_values, tmp_path, api
    ):
        """With spans on disk, ledgers are exact after Jaeger was stopped and started again."""
        environ = {
            "JAEGER_UI_CONFIG": str(jaeger_config / "ui.json"),
            "JAEGER_DATA": str(tmp_path),
        }
        shipped = [
            jaeger_config / name for name in ("jaeger.yaml", "storage-badger.yaml")
        ]
        with servers.jaeger(jaeger_binary, *shipped, environ=environ) as jaeger:
            demo = await send_demo(jaeger)
            values, run = send_values(jaeger, "grpc")
            url = f"jaeger://{jaeger.address('query')}?api={api}"
            assert until(lambda: has_all(url, demo) and has_all(url, values))
            jaeger.stop()
            jaeger.start()
            ledgers = [itemtrace.load(url, trace_id=id_) for id_ in demo.trace_ids]
            assert demo.differences(ledgers) == []
            assert itemtrace.load(url, run_id=run.run_id).exact
            with open_store(url) as store:
                listed = {summary.trace_id for summary in store.runs()}
                assert store.problems == []
            assert listed == {*demo.trace_ids}

    @pytest.mark.parametrize("storage", ["badger", "clickhouse", "elasticsearch"])
    def test_storages(self, jaeger_binary, jaeger_config, storage):
        """Each storage on top of the rest is a configuration that Jaeger accepts."""
        shipped = ["jaeger.yaml", f"storage-{storage}.yaml"]
        assert refusal(jaeger_binary, *(jaeger_config / name for name in shipped)) == ""

    def test_what_is_wrong_is_refused(self, jaeger_binary, jaeger_config, tmp_path):
        """The check above does check: an unknown key is refused."""
        wrong = tmp_path / "wrong.yaml"
        wrong.write_text("exporters: {jaeger_storage_exporter: {storage: memory}}")
        said = refusal(jaeger_binary, jaeger_config / "jaeger.yaml", wrong)
        assert "invalid keys: storage" in said

    def test_names_in_the_page(self, jaeger_config):
        """Every attribute that the page's configuration names is one that is recorded."""
        config = json.loads((jaeger_config / "ui.json").read_text())
        for pattern in config["linkPatterns"]:
            assert pattern["key"] in semconv.KEYS
            assert f"#{{{pattern['key']}}}" in pattern["url"]
        for prefix in config["topTagPrefixes"]:
            assert any(key.startswith(prefix) for key in semconv.KEYS), prefix


def has_all(url, sent):
    """Whether a Jaeger has every span that was sent."""
    with open_store(url) as store:
        found = store.traces(Query(trace_ids=sent.trace_ids))
        counts = {trace_id: len(list(rows)) for trace_id, rows in found}
    return counts == {trace_id: len(rows) for trace_id, rows in sent.rows.items()}


def refusal(binary, *configs):
    """Returns what a server says against a configuration; empty when it accepts it."""
    command = [str(binary), "validate"]
    for config in configs:
        command += ["--config", str(config)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False
    )
    return "" if done.returncode == 0 else done.stderr + done.stdout


@pytest.mark.backend("collector")
class TestCollector:
    """`dashboards/collector`."""

    @pytest.fixture
    def environ(self, tmp_path):
        """Gives the environment that every start of it needs."""
        telemetry = servers.free_ports(["telemetry"])["telemetry"]
        return {
            "QUEUE_DIRECTORY": str(tmp_path / "queue"),
            "TELEMETRY_PORT": str(telemetry),
            "METRICS_FLUSH_INTERVAL": "200ms",
            "BACKEND_INSECURE": "true",
        }

    @pytest.fixture
    def backend(self, collector_binary, tmp_path):
        """Gives a backend with the limits of gRPC as they are unless set, and where it writes."""
        path = tmp_path / "arrived" / "traces.jsonl"
        config = {
            "extensions": {"health_check": {"endpoint": "${env:HEALTH_ENDPOINT}"}},
            "receivers": {
                "otlp": {
                    "protocols": {"grpc": {"endpoint": "${env:OTLP_GRPC_ENDPOINT}"}}
                }
            },
            "exporters": {"file": {"path": str(path), "create_directory": True}},
            "service": {
                "extensions": ["health_check"],
                "telemetry": {"metrics": {"level": "none"}},
                "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["file"]}},
            },
        }
        with servers.collector(collector_binary, config) as server:
            yield server, path

    async def test_to_a_backend(
        self, collector_binary, collector_config, environ, backend, send_demo, send_rows
    ):
        """Runs arrive exact, a request of 12 MB too, and agents are metrics with their own buckets."""
        target, path = backend
        environ["BACKEND_ENDPOINT"] = target.address("otlp_grpc")
        shipped = collector_config / "collector.yaml"
        with servers.collector(collector_binary, shipped, environ=environ) as server:
            demo = await send_demo(server)
            large = [
                SpanRow(
                    trace_id="1" * 32,
                    span_id=f"{number:016x}",
                    start_ns=1,
                    end_ns=2,
                    attributes={"text": f"{number:04}" * 25_000},
                    resource={"service.name": "large"},
                )
                for number in range(1, 121)
            ]
            send_rows(server, large)
            wanted = {*demo.trace_ids, "1" * 32}
            until(lambda: len(arrived(path).get("1" * 32, [])) == len(large))
            until(lambda: "gen_ai_tool_name" in get(server, "prometheus", "/metrics"))
            metrics = get(server, "prometheus", "/metrics")
            queue = list((server.directory / environ["QUEUE_DIRECTORY"]).iterdir())
        assert queue
        target.stop()
        rows = arrived(path)
        assert set(rows) == wanted
        assert sorted(rows["1" * 32], key=repr) == sorted(
            map(plain_row, large), key=repr
        )
        ledgers = [itemtrace.load(path, trace_id=id_) for id_ in demo.trace_ids]
        assert demo.differences(ledgers) == []
        tool = next(line for line in metrics.splitlines() if 'le="1800' in line)
        assert tool.startswith("traces_span_metrics_duration_seconds_bucket{")
        for label in (
            'gen_ai_tool_name="translate"',
            'gen_ai_agent_name="Front desk"',
            'gen_ai_request_model="desk-large"',
            'gen_ai_operation_name="execute_tool"',
            'itemtrace_run_status="completed"',
        ):
            assert label in metrics, label
        assert "span_name=" not in metrics

    async def test_to_files(
        self, collector_binary, collector_config, environ, tmp_path, send_demo
    ):
        """With files as the way out, `itemtrace` reads their directory."""
        environ["FILES_DIRECTORY"] = str(tmp_path / "traces")
        shipped = [
            collector_config / name for name in ("collector.yaml", "out-files.yaml")
        ]
        with servers.collector(collector_binary, *shipped, environ=environ) as server:
            demo = await send_demo(server)
        source = tmp_path / "traces"
        ledgers = [itemtrace.load(source, trace_id=id_) for id_ in demo.trace_ids]
        assert demo.differences(ledgers) == []

    @pytest.mark.parametrize("out", ["files", "kafka", "clickhouse"])
    def test_ways_out(self, collector_binary, collector_config, out):
        """Each way out on top of the rest is a configuration that the Collector accepts."""
        shipped = ["collector.yaml", f"out-{out}.yaml"]
        said = refusal(collector_binary, *(collector_config / name for name in shipped))
        assert said == ""

    async def test_to_kafka(
        self, collector_binary, collector_config, environ, send_demo
    ):
        """With Kafka as the way out, each trace is whole in one partition of the topic."""
        kafka = pytest.importorskip("confluent_kafka")

        cluster = kafka.Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "x"})
        brokers = cluster.list_topics(timeout=10).brokers.values()
        broker = next(f"{each.host}:{each.port}" for each in brokers)
        environ["KAFKA_BROKER"] = broker
        shipped = [
            collector_config / name for name in ("collector.yaml", "out-kafka.yaml")
        ]
        # the broker here, librdkafka's, answers newer requests in a way that Go's client refuses
        older = {"exporters": {"kafka": {"protocol_version": "2.3.0"}}}
        with servers.collector(
            collector_binary, *shipped, older, environ=environ
        ) as server:
            demo = await send_demo(server)
            spans = sum(map(len, demo.rows.values()))
            consumer = kafka.Consumer(
                {
                    "bootstrap.servers": broker,
                    "group.id": "test",
                    "auto.offset.reset": "earliest",
                }
            )
            consumer.subscribe(["otlp_spans"])
            places, got, end = {}, [], time.monotonic() + 30
            while len(got) < spans and time.monotonic() < end:
                message = consumer.poll(0.2)
                if message is None or message.error():
                    continue
                for row in read_proto(message.value()):
                    places.setdefault(row.trace_id, set()).add(message.partition())
                    got.append(row)
            consumer.close()
        assert set(places) == set(demo.trace_ids)
        assert all(len(where) == 1 for where in places.values())
        expected = [row for rows in demo.rows.values() for row in rows]
        assert sorted(got, key=repr) == sorted(expected, key=repr)


def arrived(path):
    """Returns the rows that a backend has written, by trace."""
    if not path.exists() or not path.stat().st_size:
        return {}
    with open_store(path) as store:
        return {trace_id: list(rows) for trace_id, rows in store.traces()}
