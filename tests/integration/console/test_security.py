"""What an attacker tries with a console: forged forms, frames, stored scripts, other accounts."""

import io
import re

import pytest
from flask import Flask

from console.pages.security import CONTENT_SECURITY_POLICY
from shared.inbound import Inbound, store
from tests.harness.console import Console
from tests.integration.console.test_pages import pages_of_the_account

SCRIPT = "<script>alert(1)</script>"
QUOTES = "\"><img src=x onerror=alert(1)>'"
NUMBER = "254204770001"
LARGE = 100_000


def forms(app: Flask) -> list[str]:
    """The paths of all forms, with made-up objects in them."""
    paths = []
    for rule in app.url_map.iter_rules():
        if "POST" in (rule.methods or ()):
            path = re.sub(r"<uuid:\w+>", "019cad1e-2d10-7b55-a6c1-0f4e9d2b7a38", rule.rule)
            path = re.sub(r"<any\(([\w]+)[^)]*\):\w+>", r"\1", path)
            paths.append(re.sub(r"<(?:int:)?\w+>", "1", path))
    return sorted(paths)


def test_no_form_is_accepted_without_its_token(console: Console) -> None:
    owner = console.browser()
    paths = forms(console.app)
    assert len(paths) > 30
    for path in paths:
        for token in ("", "forged"):
            response = owner.client.post(path, data={"csrf_token": token} if token else {})
            assert response.status_code == 400 and "no longer valid" in response.text, path


def test_strangers_send_small_forms_only(console: Console) -> None:
    stranger = console.stranger()
    stranger.open("/sign-in")
    for path in forms(console.app):
        for more in ({"filler": "x" * LARGE}, {"file": (io.BytesIO(b"x" * LARGE), "x.csv")}):
            response = stranger.client.post(path, data={**stranger.tokens, **more})
            too_large = response.status_code == 413 and "This is too large." in response.text
            signed_out = response.status_code == 401 and "What you typed is too large to be kept." in response.text
            assert too_large or signed_out, path


def test_people_send_large_lists_and_files_where_these_belong(console: Console) -> None:
    owner = console.browser()
    group = console.service.post("/groups", name="Ours").json["group_id"]
    assert owner.post("/groups/", name="Large", filler="x" * LARGE).status_code == 413
    for path in ("/compose/", "/compose/quote", "/compose/confirm", "/compose/send"):
        response = owner.post(path, kind="list", list="254711000001", file_text="x" * LARGE)
        assert response.status_code in (200, 400), path
    for path in ("/opt-outs/import", f"/groups/{group}/import"):
        rows = io.BytesIO(b"phone\n" + b"254711000001\n" * (LARGE // 13))
        assert owner.post(path, file=(rows, "phones.csv")).status_code == 302, path
    for path in ("/opt-outs/", f"/groups/{group}/contacts"):
        assert owner.post(path, phones="254711000001\n" * (LARGE // 13)).status_code in (302, 400), path


def test_every_page_forbids_frames_and_inline_code(console: Console) -> None:
    owner, stranger = console.browser(), console.stranger()
    responses = [owner.get(path) for path in pages_of_the_account(console)]
    responses += [
        stranger.open("/sign-in"),
        stranger.open("/nothing"),
        owner.open("/me/security"),
        stranger.open("/healthz"),
    ]
    for response in responses:
        assert response.headers["Content-Security-Policy"] == CONTENT_SECURITY_POLICY
        assert response.headers["X-Frame-Options"] == "DENY"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Cache-Control"] == "no-store"
        if response.mimetype == "text/html":
            assert not re.search(r"<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|javascript:", response.text)
            assert not re.search(r"""(?:src|href|action)=["'](?:https?:)?//""", response.text)


@pytest.fixture
def number(console: Console) -> str:
    with console.service.engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO sender_id (account_id, sender_id, state) VALUES (%s, %s, 'approved') ON CONFLICT DO NOTHING",
            (console.service.account_id, NUMBER),
        )
    return NUMBER


@pytest.mark.parametrize("evil", [SCRIPT, QUOTES])
def test_stored_text_is_never_run_as_code(console: Console, number: str, evil: str) -> None:
    service, owner = console.service, console.browser()
    group = service.post("/groups", name=evil).json["group_id"]
    service.post(
        f"/groups/{group}/contacts", contacts=[{"phone": "254711000001", "fields": {"name": evil}, "tags": [evil]}]
    )
    sent = service.send("254711000001", evil, reference=evil).json
    service.post("/suppressions", phones=["254711000044"], reason=evil)
    service.post("/webhooks", url="https://example.com/" + "x", description=evil)
    service.post("/sender-ids", sender_id="EVIL", use_case=evil)
    service.transact(store, "simulator", [Inbound("+254711000009", f"+{number}", evil)])
    with service.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE person SET name = %s", (evil,))
        connection.exec_driver_sql("UPDATE account SET name = %s || id WHERE sandbox_of IS NULL", (evil,))
        connection.exec_driver_sql("UPDATE sender_id SET reason = %s WHERE sender_id = 'EVIL'", (evil,))
    pages = [
        *pages_of_the_account(console),
        f"/sends/{sent['send_id']}",
        f"/sends/{sent['send_id']}/recipients",
        f"/messages/{sent['message_id']}",
        f"/groups/{group}",
        "/conversations/254711000009",
        f"/compose/?kind=group&group_id={group}&sender_id=ACME&message={{{{name}}}}",
        f"/messages/?reference={evil}",
        f"/sends/?reference={evil}",
    ]
    shown = 0
    for path in pages:
        response = owner.get(path)
        if response.mimetype == "text/html":
            assert evil not in response.text, path
            assert not re.search(r"<(?:script>alert|img src=x)", response.text), path
            shown += response.text.count("alert(1)")
    assert shown > 10


@pytest.mark.parametrize(
    "query", ["_scheme=javascript&_external=1", "endpoint=x", "world=test&account_id=2", "_anchor=x"]
)
def test_a_link_to_the_next_page_leads_nowhere_else(console: Console, query: str) -> None:
    console.service.bulk([str(254711000000 + number) for number in range(60)], "Hi")
    page = console.browser().get(f"/messages/?{query}")
    (link,) = re.findall(r'class="button" href="([^"]*cursor=[^"]+)"', page.text)
    assert link.startswith(f"/accounts/{console.service.account_id}/live/messages/?")


@pytest.mark.parametrize("role", ["viewer", "sender"])
def test_the_menu_shows_what_the_role_may_do(console: Console, role: str) -> None:
    menu = console.browser(role).get("/").text
    assert ("/compose/" in menu) == (role == "sender")
    assert "/api-keys/" not in menu and "/people/" not in menu


def test_each_session_has_its_own_person_and_role(console: Console) -> None:
    for role in ("owner", "viewer"):
        person, browser = console.person(role), console.stranger()
        browser.sign_in_by_link(console.link(person))
        assert person.email in browser.open("/me/profile").text
        assert ("/api-keys/" in browser.get("/").text) == (role == "owner")
