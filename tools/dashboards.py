"""Writes the Grafana dashboards (`boards.py`) as JSON, or checks that they are fresh.

    python tools/dashboards.py            writes dashboards/grafana/*.json
    python tools/dashboards.py --check    exit 1 and a line per dashboard that is not as it should be

Needs `grafana-foundation-sdk==0.0.21`: a plain install takes one for Grafana 10.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import boards
from boards import Board, Panel, Query


with warnings.catch_warnings():
    # the classic schema is what every Grafana in use imports; the newer one needs Grafana 12
    warnings.simplefilter("ignore", DeprecationWarning)
    from grafana_foundation_sdk.builders import dashboard as ui
    from grafana_foundation_sdk.builders import (
        prometheus,
        stat,
        table,
        tempo,
        text,
        timeseries,
    )
    from grafana_foundation_sdk.cog.encoder import JSONEncoder
    from grafana_foundation_sdk.models import dashboard as schema
    from grafana_foundation_sdk.models.common import DataSourceRef
    from grafana_foundation_sdk.models.prometheus import PromQueryFormat


if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OUT: Final = Path(__file__).parents[1] / "dashboards" / "grafana"
PROMETHEUS: Final = DataSourceRef("prometheus", "${datasource}")
TEMPO: Final = DataSourceRef("tempo", "${tempo}")
HEIGHTS: Final = {"stat": 4, "traces": 14, "jaeger": 14}


def _promql(query: Query, *, instant: bool, as_table: bool = False) -> Any:
    target = prometheus.Dataquery().expr(query.expr).datasource(PROMETHEUS)
    target = target.instant() if instant else target.range().exemplar(True)
    if as_table:
        target.format(PromQueryFormat.TABLE)
    return target.legend_format(query.legend or "__auto")


def _stat(panel: Panel) -> Any:
    made = stat.Panel().datasource(PROMETHEUS)
    return _with(made, [_promql(query, instant=True) for query in panel.queries])


def _timeseries(panel: Panel) -> Any:
    made = timeseries.Panel().datasource(PROMETHEUS).fill_opacity(10)
    return _with(made, [_promql(query, instant=False) for query in panel.queries])


def _table(panel: Panel) -> Any:
    made = table.Panel().datasource(PROMETHEUS)
    found = [_promql(query, instant=True, as_table=True) for query in panel.queries]
    hidden = {"excludeByName": {"Time": True}}
    made.with_transformation(schema.DataTransformerConfig("organize", options=hidden))
    return _with(made, found)


def _text(panel: Panel) -> Any:
    return text.Panel().content(panel.queries[0].expr)


def _spans(panel: Panel) -> Any:
    made = table.Panel().datasource(TEMPO)
    query = tempo.Dataquery().datasource(TEMPO).query_type("traceql").limit(50)
    return _with(made, [query.query(panel.queries[0].expr)])


def _trace(panel: Panel) -> Any:
    made = table.Panel().datasource(TEMPO)
    query = tempo.Dataquery().datasource(TEMPO).query_type("traceql")
    return _with(made, [query.query(panel.queries[0].expr)])


def _with(made: Any, targets: list[Any]) -> Any:
    for place, target in enumerate(targets):
        made.with_target(target.ref_id(chr(ord("A") + place)))
    return made


MAKERS: Final[dict[str, Callable[[Panel], Any]]] = {
    "stat": _stat,
    "timeseries": _timeseries,
    "table": _table,
    "text": _text,
    "spans": _spans,
    "traces": _trace,
    "jaeger": _trace,
}
"""Kind of a panel -> what makes it."""


def build(board: Board) -> dict[str, Any]:
    """Returns a dashboard as Grafana's JSON."""
    made = (
        ui.Dashboard(board.title)
        .uid(board.uid)
        .description(board.description)
        .tags(["itemtrace", "genai"])
        .readonly()  # provisioned; a person saves a copy
        .refresh("1m")
        .time("now-6h", "now")
        .timezone("browser")
    )
    for variable in _variables(board):
        made.with_variable(variable)
    for title, panels in board.rows:
        made.with_row(ui.Row(title))
        for panel in panels:
            made.with_panel(
                MAKERS[panel.kind](panel)
                .title(panel.title)
                .description(panel.description)
                .unit(panel.unit)
                .span(panel.width)
                .height(HEIGHTS.get(panel.kind, 8))
            )
    plain: dict[str, Any] = json.loads(json.dumps(made.build(), cls=JSONEncoder))
    plain["id"] = None
    return _finished(plain, board)


def _variables(board: Board) -> Iterator[Any]:
    if board is boards.RUN:
        yield _source("tempo", "Tempo", "tempo")
        yield _source("jaeger", "Jaeger", "jaeger")
        yield ui.TextBoxVariable("trace").label("Trace id").default_value("")
        return
    yield _source("datasource", "Data source", "prometheus")
    runs = boards.prometheus(boards.names.RUNS)
    for name, above in (("job", ""), ("instance", '{job=~"$job"}')):
        yield (
            ui.QueryVariable(name)
            .label(name)
            .datasource(PROMETHEUS)
            .query(f"label_values({runs}{above}, {name})")
            .refresh(schema.VariableRefresh.ON_TIME_RANGE_CHANGED)
            .multi(True)
            .include_all(True)
            .all_value(".+")
        )


def _source(name: str, label: str, kind: str) -> Any:
    return ui.DatasourceVariable(name).label(label).type(kind)


def _finished(plain: dict[str, Any], board: Board) -> dict[str, Any]:
    """Sets what the SDK has no builder for: numbers of panels, the plugins of traces, links."""
    plain["links"] = [
        {
            "type": "dashboards", "title": "itemtrace", "tags": ["itemtrace"], "asDropdown": True,
            "includeVars": True, "keepTime": True, "targetBlank": False, "icon": "external link",
            "tooltip": "The other dashboards", "url": "",
        }
    ]  # fmt: skip
    kinds = {panel.title: panel.kind for _, panels in board.rows for panel in panels}
    for number, panel in enumerate(plain["panels"], 1):
        panel["id"] = number
        options = panel.get("options", {})
        if "reduceOptions" in options:
            options["reduceOptions"]["calcs"] = ["lastNotNull"]
        if "legend" in options:
            options["legend"]["showLegend"] = True
        kind = kinds.get(panel["title"])
        if kind in ("traces", "jaeger"):
            panel["type"] = "traces"
            panel.pop("options", None)
        if kind == "jaeger":
            source = {"type": "jaeger", "uid": "${jaeger}"}
            panel["datasource"] = source
            panel["targets"] = [{"refId": "A", "datasource": source, "query": "$trace"}]
    for variable in plain["templating"]["list"]:
        if variable["name"] in ("job", "instance"):
            variable["current"] = {"text": ["All"], "value": ["$__all"]}
    return plain


def files() -> Iterator[tuple[Path, str]]:
    """Gives the path and the text of each dashboard."""
    for board in boards.BOARDS:
        name = board.uid.removeprefix("itemtrace-")
        text_ = json.dumps(build(board), indent=2, ensure_ascii=False)
        yield OUT / f"{name}.json", text_ + "\n"


def main(arguments: list[str]) -> int:
    """Writes the dashboards, or with `--check` reports those that are not fresh."""
    stale = 0
    OUT.mkdir(parents=True, exist_ok=True)
    for path, made in files():
        if path.exists() and path.read_text(encoding="utf-8") == made:
            continue
        if "--check" in arguments:
            stale += 1
            sys.stderr.write(f"{path.name} is not as generated; run `make docs`\n")
        else:
            path.write_text(made, encoding="utf-8")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
