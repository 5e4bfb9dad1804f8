"""The files of deploy/observe: alerts, dashboards and the page that says what to do about an alert."""

import json
import re
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

OBSERVE = Path("deploy/observe")
RULES: dict[str, Any] = yaml.safe_load((OBSERVE / "rules.yml").read_text())
ALL_RULES = [rule for group in RULES["groups"] for rule in group["rules"]]
ALERTS = {rule["alert"]: rule for rule in ALL_RULES if "alert" in rule}
RECORDED = {rule["record"] for rule in ALL_RULES if "record" in rule}
PAGE = Path("docs/operating/alerts.md").read_text()
ROW = re.compile(r"^\| `(bulksms_\w+)` \|(?: (?:counter|gauge|histogram) \|)? ([^|]*) \|", re.MULTILINE)
LABELS = {
    name: set(re.findall(r"`(\w+)`", labels))
    for name, labels in ROW.findall(Path("docs/reference/metrics.md").read_text())
}
OF_PROMETHEUS = {"instance", "job"}
DASHBOARDS = {path.name: json.loads(path.read_text()) for path in sorted(OBSERVE.glob("*.json"))}
QUERIES = [
    target["expr"] for each in DASHBOARDS.values() for panel in each["panels"] for target in panel["targets"]
] + [rule["expr"] for rule in ALL_RULES]


def family(series: str) -> str:
    """The metric that a name of a series belongs to."""
    plain = re.sub(r"_(bucket|sum|count)$", "", series)
    return plain if plain in LABELS else series


def wrong_names(query: str) -> list[str]:
    """The names of metrics and labels in a query that do not exist."""
    wrong = [name for name in re.findall(r"bulksms:[\w:]+", query) if name not in RECORDED]
    for series, selector in re.findall(r"(?<![\w:])(bulksms_\w+)(?:\{([^}]*)\})?", query):
        name = family(series)
        if name not in LABELS:
            wrong.append(series)
            continue
        used = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector))
        wrong += [f"{name}.{label}" for label in used - LABELS[name] - {"le"} - OF_PROMETHEUS]
    return wrong


def test_the_queries_name_metrics_and_labels_that_exist() -> None:
    assert {query: wrong for query in QUERIES if (wrong := wrong_names(query))} == {}


def test_each_alert_has_a_severity_a_summary_and_a_section_of_the_page() -> None:
    for name, rule in ALERTS.items():
        assert rule["labels"]["severity"] in ("page", "ticket"), name
        assert rule["annotations"]["summary"], name
        assert rule["annotations"]["runbook_url"].endswith(f"/docs/operating/alerts.html#{name.lower()}"), name
        assert f"### {name}\n" in PAGE, name


def test_the_page_has_no_other_alerts() -> None:
    assert set(re.findall(r"^### (\w+)$", PAGE, re.MULTILINE)) == set(ALERTS)


def test_the_dashboards_are_what_their_generator_makes() -> None:
    generator = runpy.run_path(str(OBSERVE / "dashboards.py"))
    made = {name: generator["as_json"](document) for name, document in generator["DASHBOARDS"].items()}
    assert {path.name: path.read_text() for path in OBSERVE.glob("*.json")} == made
    assert all(len(document["panels"]) > 10 for document in DASHBOARDS.values())


def test_every_alert_fires_in_the_tests_of_the_rules() -> None:
    tests = (OBSERVE / "rules_test.yml").read_text()
    assert [name for name in ALERTS if f'alertname="{name}"' not in tests] == []


@pytest.mark.prometheus
@pytest.mark.parametrize(
    "command",
    [
        "promtool check rules rules.yml",
        "promtool test rules rules_test.yml",
        "promtool check config --syntax-only prometheus.yml",
        "amtool check-config alertmanager.yml",
    ],
)
def test_prometheus_and_alertmanager_accept_rules_and_configuration(command: str) -> None:
    tool, *arguments = command.split()
    program = shutil.which(tool)
    assert program, f"install Debian's prometheus and prometheus-alertmanager, which have {tool}"
    done = subprocess.run([program, *arguments], cwd=OBSERVE, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
