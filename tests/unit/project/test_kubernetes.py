"""The manifests of deploy/kubernetes, judged without a cluster. `make kubernetes` checks them against its schemas."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from api.server.process import END_SECONDS, HUNG_SECONDS
from shared.observability.metrics import DIRECTORY
from shared.settings import MAX_LEASE_SECONDS, from_environment
from tests.unit.project.test_readme import of_the_code

FOLDER = Path("deploy/kubernetes")
DEFAULT_PORT = 8001
"""Of the console."""
NOT_APPLIED = {"kustomization.yaml", "secret.example.yaml"}
OBJECTS: list[dict[str, Any]] = [
    each for path in sorted(FOLDER.glob("*.yaml")) for each in yaml.safe_load_all(path.read_text())
]
WORKLOADS = {each["metadata"]["name"]: each for each in OBJECTS if each["kind"] in ("Deployment", "StatefulSet")}
NAMES = sorted(WORKLOADS)


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [each for each in OBJECTS if each["kind"] == kind]


def one(kind: str, name: str = "bulksms") -> dict[str, Any]:
    [found] = [each for each in of_kind(kind) if each["metadata"]["name"] == name]
    return found


def pod(name: str) -> dict[str, Any]:
    spec: dict[str, Any] = WORKLOADS[name]["spec"]["template"]["spec"]
    return spec


def containers(name: str) -> list[dict[str, Any]]:
    return [*pod(name).get("initContainers", []), *pod(name)["containers"]]


def test_it_works() -> None:
    [kustomization] = of_kind("Kustomization")
    assert set(kustomization["resources"]) == {path.name for path in FOLDER.glob("*.yaml")} - NOT_APPLIED
    assert NAMES == ["bulksms-api", "bulksms-console", "bulksms-smpp", "bulksms-webhooks", "bulksms-worker"]
    started = dict(line.split(": ", 1) for line in Path("Procfile").read_text().splitlines() if line)
    assert pod("bulksms-worker")["containers"][0]["command"] == started["worker"].split()
    assert pod("bulksms-webhooks")["containers"][0]["command"] == started["webhooks"].split()
    assert pod("bulksms-smpp")["containers"][0]["command"] == started["smpp"].partition(" --port")[0].split()
    arguments = pod("bulksms-console")["containers"][0]["command"]
    assert arguments == started["console"].partition(" --port")[0].split()
    [image] = kustomization["images"]
    assert {each["image"] for name in NAMES for each in containers(name)} == {image["name"]}


@pytest.mark.parametrize("name", NAMES)
def test_each_selector_finds_its_pods(name: str) -> None:
    labels = WORKLOADS[name]["spec"]["template"]["metadata"]["labels"]
    assert WORKLOADS[name]["spec"]["selector"]["matchLabels"] == labels
    assert one("PodDisruptionBudget", name)["spec"]["selector"]["matchLabels"] == labels
    [spread] = pod(name)["topologySpreadConstraints"]
    assert spread["labelSelector"]["matchLabels"] == labels
    for service in (each for each in of_kind("Service") if each["metadata"]["name"] == name):
        assert service["spec"]["selector"] == labels
        ports = [port["name"] for port in pod(name)["containers"][0]["ports"]]
        assert service["spec"]["ports"][0]["targetPort"] in ports


@pytest.mark.parametrize("name", NAMES)
def test_no_container_has_more_rights_than_it_needs(name: str) -> None:
    assert pod(name)["securityContext"]["runAsNonRoot"] and pod(name)["securityContext"]["runAsUser"] == 10001
    assert pod(name)["automountServiceAccountToken"] is False
    for container in containers(name):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert "memory" in container["resources"]["limits"] and "cpu" in container["resources"]["requests"]
        mounted = {each["name"] for each in container["volumeMounts"]}
        claimed = WORKLOADS[name]["spec"].get("volumeClaimTemplates", [])
        assert mounted == {each["name"] for each in pod(name)["volumes"]} | {
            each["metadata"]["name"] for each in claimed
        }


def test_pods_are_given_the_time_to_end() -> None:
    [api] = pod("bulksms-api")["containers"]
    pause = int(api["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod("bulksms-api")["terminationGracePeriodSeconds"] >= pause + END_SECONDS + HUNG_SECONDS
    assert pod("bulksms-worker")["terminationGracePeriodSeconds"] > MAX_LEASE_SECONDS


def test_a_database_that_is_away_restarts_nothing() -> None:
    [api] = pod("bulksms-api")["containers"]
    assert api["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert api["livenessProbe"]["httpGet"]["path"] == api["startupProbe"]["httpGet"]["path"] == "/healthz"
    for name in ("bulksms-worker", "bulksms-webhooks", "bulksms-smpp"):
        [container] = pod(name)["containers"]
        assert "readinessProbe" in container and "livenessProbe" not in container


def test_the_settings_exist_and_are_valid() -> None:
    values: dict[str, str] = one("ConfigMap")["data"] | one("Secret")["stringData"]
    assert set(values) <= set(of_the_code()) | {DIRECTORY}
    filled = values | {"SECRET_KEY": "x" * 32, "METRICS_TOKEN": "token"}
    assert from_environment(filled).simulated
    ports = {port["containerPort"] for name in NAMES for port in pod(name)["containers"][0].get("ports", [])}
    assert ports == {8000, 2775, DEFAULT_PORT, int(values["METRICS_PORT"])}
    mounts = {each["mountPath"] for each in pod("bulksms-worker")["containers"][0]["volumeMounts"]}
    assert {str(Path(values["GUARD_FILE"]).parent), str(Path(values[DIRECTORY]).parent)} <= mounts


def test_only_named_traffic_is_allowed_in_or_out() -> None:
    everything = one("NetworkPolicy")
    assert everything["spec"]["podSelector"] == {} and set(everything["spec"]["policyTypes"]) == {"Ingress", "Egress"}
    for policy in of_kind("NetworkPolicy"):
        for rule in policy["spec"].get("ingress", []):
            assert rule["from"] and rule["ports"]
        for rule in policy["spec"].get("egress", []):
            assert rule.get("ports") or all(each["ipBlock"]["except"] for each in rule["to"])
