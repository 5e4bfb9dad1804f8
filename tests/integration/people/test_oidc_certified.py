"""Signing in through a certified provider that is not ours: the npm package `oidc-provider`, run by `make npm`."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from sqlalchemy import Engine

import tests.peers
from bulksms.local.ports import free_port
from shared.oidc_settings import OidcSettings
from tests.harness.oidc_provider import CLIENT_ID, CLIENT_SECRET, CONSOLE_CALLBACK
from tests.harness.people import a_person
from tests.harness.service import Service
from tests.integration.people.test_oidc import begun, code_of, complete, invited

pytestmark = pytest.mark.npm
PEER = Path(tests.peers.__file__).parent / "oidc"
ACTION = re.compile(r'action="([^"]+)"')
MOST_STEPS = 20


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("provider") / "oidc", str(free_port())
    shutil.copytree(PEER, folder, ignore=shutil.ignore_patterns("node_modules"))
    install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    subprocess.run(install, cwd=folder, check=True, capture_output=True, timeout=300)
    command = ["node", "provider.js", port, CLIENT_ID, CLIENT_SECRET, CONSOLE_CALLBACK]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None and "ready" in process.stdout.readline()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


@pytest.fixture(params=["", "-post"])
def service(engine: Engine, issuer: str, request: pytest.FixtureRequest) -> Service:
    return Service(engine, oidc=OidcSettings(issuer, CLIENT_ID + request.param, CLIENT_SECRET, "Certified"))


def browse(address: str, login: str) -> dict[str, str]:
    """What a browser brings back in which somebody signs in at the provider, and agrees."""
    with httpx2.Client(trust_env=False) as browser:
        response = browser.get(address)
        for _ in range(MOST_STEPS):
            place = response.headers.get("Location", "")
            if place.startswith(CONSOLE_CALLBACK):
                return dict(parse_qsl(urlsplit(place).query))
            if place:
                response = browser.get(response.url.join(place))
                continue
            action = ACTION.search(response.text)
            assert action, response.text
            is_login = 'name="login"' in response.text
            form = {"prompt": "login", "login": login, "password": "any"} if is_login else {"prompt": "consent"}
            response = browser.post(response.url.join(action[1]), data=form)
    raise AssertionError("the provider does not send the browser back")


def test_it_works(service: Service) -> None:
    invitation, found = {"invitation_token": invited(service, "new@acme.example")}, []
    for body in (invitation, {}):
        attempt = begun(service)
        returned = browse(attempt["authorization_url"], "new@acme.example")
        found.append(complete(service, attempt["attempt"], returned, **body).json["person"])
    assert (found[0]["name"], found[0]["person_id"]) == ("Ann Otieno", found[1]["person_id"])


def test_a_code_works_once_and_only_for_its_own_attempt(service: Service) -> None:
    mine, others = begun(service), begun(service)
    email = a_person(service).email
    own, stolen = browse(mine["authorization_url"], email), browse(others["authorization_url"], email)
    assert code_of(complete(service, mine["attempt"], {**own, "code": stolen["code"]})) == "oidc_failed"
    assert complete(service, mine["attempt"], own).status_code == 200
    assert code_of(complete(service, mine["attempt"], own)) == "oidc_failed"
