"""What is shipped for Grafana and Prometheus: fresh, lint-free, and tested by promtool."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from itemtrace.semconv_metrics import METRICS


DASHBOARDS = Path(__file__).parents[3] / "dashboards"
FILES = sorted((DASHBOARDS / "grafana").glob("*.json"))
FOUR = ["agents", "fleet", "ledger", "run"]


@pytest.fixture(params=FOUR)
def dashboard(request):
    """Gives each dashboard as it is committed."""
    path = DASHBOARDS / "grafana" / f"{request.param}.json"
    return json.loads(path.read_text())


def of_kind(dashboard, kind):
    """Returns the queries of a kind of data source, with their panels."""
    return [
        (panel, target)
        for panel in dashboard["panels"]
        for target in panel.get("targets", ())
        if target["datasource"]["type"] == kind
    ]


def test_dashboards_are_fresh(tools):
    """The committed JSON is what the program writes."""
    _, program = tools
    assert [path.stem for path in FILES] == FOUR
    assert program.main(["--check"]) == 0


def test_stale_dashboards_are_named(tools, monkeypatch, tmp_path, capsys):
    """A dashboard that is not as generated fails the check, and is then written."""
    _, program = tools
    monkeypatch.setattr(program, "OUT", tmp_path)
    assert program.main(["--check"]) == 1
    assert capsys.readouterr().err.count("run `make docs`") == len(FOUR)
    assert program.main([]) == 0
    assert program.main(["--check"]) == 0


def test_dashboard_is_portable(dashboard):
    """Grafana's linter: no id, a fixed uid, sources by variable only, the current schema, read-only."""
    assert dashboard["id"] is None
    assert dashboard["uid"].startswith("itemtrace-")
    assert dashboard["schemaVersion"] == 42
    assert dashboard["editable"] is False
    assert "itemtrace" in dashboard["tags"]
    uids = set(re.findall(r'"uid": "([^"]*)"', json.dumps(dashboard)))
    assert uids - {dashboard["uid"]} <= {"${datasource}", "${tempo}", "${jaeger}"}


def test_panels_are_described(dashboard):
    """Grafana's linter: every panel has a title, a description, a unit and queries."""
    for panel in dashboard["panels"]:
        assert panel["title"]
        if panel["type"] == "row":
            continue
        assert panel["description"].endswith("."), panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        assert panel["type"] == "text" or panel["targets"], panel["title"]
    numbers = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(numbers)) == len(numbers)


def test_panels_do_not_overlap(dashboard):
    """Every panel has a place of its own on the grid of 24 columns."""
    taken = set()
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert max(x for x, _ in cells) < 24, panel["title"]
        assert not cells & taken, panel["title"]
        taken |= cells


def test_promql_is_narrowed_and_keeps_to_the_interval(dashboard):
    """Grafana's linter: job and instance in every selector, a rate over `$__rate_interval`."""
    for panel, target in of_kind(dashboard, "prometheus"):
        for selector in re.findall(r"\{([^}]*)\}", target["expr"]):
            assert selector.startswith('job=~"$job", instance=~"$instance"'), panel
        for function, span in re.findall(r"(\w+)\([^()]*\[([^]]*)\]", target["expr"]):
            wanted = {"rate": "$__rate_interval", "increase": "$__range"}[function]
            assert span == wanted, panel["title"]
        assert target["refId"]


def test_promql_names_are_in_the_registry(dashboard, tools):
    """Every series is a metric of the registry, and every label an attribute that it has."""
    boards, _ = tools
    known = {
        boards.prometheus(metric, part): metric
        for metric in METRICS.values()
        for part in ("", "bucket", "count", "sum")
    }
    for _, target in of_kind(dashboard, "prometheus"):
        expr = target["expr"]
        names = re.findall(r"(\w+)\{", expr)
        assert set(names) <= set(known), expr
        attributes = {
            boards.label(key) for name in names for key in known[name].attributes
        }
        for keys in re.findall(r"by \(([^)]*)\)", expr):
            assert set(keys.split(", ")) <= attributes | {"le"}, expr


def test_variables(dashboard):
    """Grafana's linter: the data source first, then job and instance that are read again with the time."""
    variables = dashboard["templating"]["list"]
    if dashboard["uid"] == "itemtrace-run":
        names = [(one["name"], one["type"]) for one in variables]
        sources = [("tempo", "datasource"), ("jaeger", "datasource")]
        assert names == [*sources, ("trace", "textbox")]
        return
    source, *others = variables
    assert (source["name"], source["type"], source["query"]) == (
        *("datasource", "datasource"),
        "prometheus",
    )
    assert [one["name"] for one in others] == ["job", "instance"]
    for one in others:
        assert one["query"].startswith("label_values(itemtrace_runs_total")
        assert (one["refresh"], one["multi"], one["allValue"]) == (2, True, ".+")


def test_traceql_is_balanced_and_asks_for_our_attributes(dashboard):
    """TraceQL queries are spansets, and `select` names attributes with their scope."""
    for panel, target in of_kind(dashboard, "tempo"):
        query = target["query"]
        if query == "$trace":
            continue
        assert re.fullmatch(r"\{ [^{}]+ \} \| select\([^()]+\)", query), panel["title"]
        chosen = re.search(r"select\((.*)\)", query).group(1).split(", ")
        assert all(
            one.startswith(("span.gen_ai.", "span.itemtrace.")) for one in chosen
        )


def test_rules_hold(promtool):
    """The rules are taken by promtool, and its tests of them pass."""
    for command in (
        ["check", "rules", "itemtrace.rules.yaml"],
        ["test", "rules", "itemtrace.tests.yaml"],
    ):
        done = subprocess.run(
            [promtool, *command],
            cwd=DASHBOARDS / "prometheus",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def rules():
    """Returns all rules."""
    text = (DASHBOARDS / "prometheus" / "itemtrace.rules.yaml").read_text()
    return [rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"]]


def test_every_alert_is_tested():
    """Each alert is fired by one of promtool's tests."""
    text = (DASHBOARDS / "prometheus" / "itemtrace.tests.yaml").read_text()
    fired = {
        case["alertname"]
        for test in yaml.safe_load(text)["tests"]
        for case in test.get("alert_rule_test", ())
        if case["exp_alerts"]
    }
    assert fired == {rule["alert"] for rule in rules() if "alert" in rule}


@pytest.mark.parametrize(
    "rule", [one for one in rules() if "record" in one], ids=lambda rule: rule["record"]
)
def test_recorded_rules_are_not_empty(rule, window):
    """Each recording rule gives series on the load of real runs."""
    expr = re.sub(r"\[\d+[mh]\]", "[$__range]", rule["expr"])
    assert window.ask(expr), rule["record"]


def test_alerts_of_the_load(window):
    """What went wrong in the load is what the alerts' expressions find."""
    found = {}
    for rule in rules():
        if "alert" not in rule or ":" in rule["expr"].split("{")[0]:
            continue  # those stand on recorded rules, which need more time than a test has
        expr = re.sub(r"\[\d+[mh]\]", "[$__range]", rule["expr"])
        found[rule["alert"]] = bool(window.ask(expr))
    assert found == {
        "ItemtraceApprovalWaits": True,
        "ItemtraceNotCaptured": False,
        "ItemtraceSpansRefused": True,
    }


@pytest.mark.parametrize(
    "path",
    [
        *DASHBOARDS.rglob("provisioning/**/*.yaml"),
        DASHBOARDS / "compose.yaml",
        DASHBOARDS / "prometheus" / "prometheus.yaml",
    ],
    ids=lambda path: path.parent.name,
)
def test_configuration_is_yaml(path):
    """What starts Grafana and Prometheus is read, and names files that are there."""
    value = yaml.safe_load(path.read_text())
    for service in value.get("services", {}).values():
        for volume in service.get("volumes", ()):
            assert (path.parent / volume.split(":")[0]).exists(), volume
    for name in value.get("rule_files", ()):
        assert (path.parent / name).exists()
