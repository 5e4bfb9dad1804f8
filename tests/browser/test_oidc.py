"""Signing in through an OpenID Connect provider in a real browser, with its policies for forms and cookies."""

import pytest
from playwright.sync_api import expect

from bulksms.local.ports import free_port
from bulksms.local.postgres import Postgres
from shared.oidc.provider import CALLBACK
from shared.people.invitations import invite
from tests.browser.conftest import Stand
from tests.browser.steps import errors_of
from tests.browser.test_accessibility import SCREENS, wrong_with
from tests.harness.console import console_of, serving
from tests.harness.database import disposable_database
from tests.harness.oidc_provider import oidc_provider

pytestmark = pytest.mark.slow


def test_an_invitation_is_accepted_and_used(stand: Stand, postgres_server: Postgres) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with oidc_provider() as provider, disposable_database(postgres_server) as engine:
        provider.callback = url + CALLBACK
        provider.user = {"sub": "ann", "email": "ann@acme.example", "email_verified": True, "name": "Ann Otieno"}
        with (
            console_of(engine, oidc=provider.settings(), console_url=url) as console,
            serving(console.app, port),
            stand.browser.new_context(bypass_csp=True, **SCREENS["phone"]) as looking,
            stand.browser.new_context(timezone_id="Africa/Nairobi") as context,
        ):
            with engine.begin() as connection:
                token = invite(connection, "ann@acme.example", console.service.account_id, "owner").token
            for path in ("/sign-in", f"/invitations/{token}"):
                page = looking.new_page()
                page.goto(url + path)
                assert wrong_with(page) == []
            page = context.new_page()
            errors = errors_of(page)
            page.goto(f"{url}/invitations/{token}")
            page.get_by_role("link", name="Sign in with Acme").click()
            expect(page.get_by_role("heading", name="Overview")).to_be_visible()
            page.goto(f"{url}/me/profile")
            expect(page.get_by_label("Time zone")).to_have_value("Africa/Nairobi")
            context.clear_cookies()
            page.goto(url)
            page.get_by_role("link", name="Sign in with Acme").click()
            expect(page.get_by_role("heading", name="Overview")).to_be_visible()
            assert errors == []
