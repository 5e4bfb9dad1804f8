"""Every page of the console is in the lists of what is looked at in a browser: a new one is missed here."""

from collections.abc import Iterator

from bench.console_pages import OF_ACCOUNT, OF_OPERATOR, OF_PERSON
from console.app import create_app
from console.settings import Settings
from tests.browser import pages

OBJECT = "01900000-0000-7000-8000-000000000000"
NAMES = (
    "single",
    "many",
    "open",
    "group",
    "message",
    "webhook",
    "imported",
    "exported",
    "sender",
    "top_up",
    "carrier",
    "phone",
    "month",
)
OBJECTS = dict.fromkeys((*NAMES, "link", "invited", "new", "system_id"), OBJECT) | {
    "account": "17",
    "list": "3",
    "version": "12",
}
NOT_PAGES = {
    "GET accounts.health",
    "GET static",
    "GET groups.contacts_csv",
    "GET groups.import_errors_csv",
    "GET messages.export_file",
    "GET opt_outs.csv",
    "GET sends.recipients_csv",
    "GET prices.csv",
    "GET operator.prices.csv",
    "GET usage.csv",
    "GET compose.to_new_message",
    "GET conversations.open_phone",
    "GET operator.start",
    "GET oidc.callback",
    "GET oidc.to_provider",
    "GET oidc.to_provider_with_invitation",
}
"""Files, and addresses that only lead to a page."""
LEADS_ON = {
    "POST api_keys.revoke",
    "POST compose.send",
    "POST groups.cancel_import",
    "POST groups.contact",
    "POST groups.delete",
    "POST groups.import_file",
    "POST groups.remove_contact",
    "POST groups.rename",
    "POST ledger.refill",
    "POST messages.cancel",
    "POST messages.export",
    "POST me.disable_totp",
    "POST me.end_session",
    "POST operator.access.end",
    "POST operator.carriers.pause",
    "POST operator.carriers.resume",
    "POST operator.accounts.reverse",
    "POST operator.installation.release_guard",
    "POST operator.prices.withdraw",
    "POST operator.sender_ids.approve",
    "POST operator.sender_ids.decide",
    "POST opt_outs.confirm",
    "POST opt_outs.delete",
    "POST opt_outs.dismiss",
    "POST opt_outs.import_file",
    "POST people.change_role",
    "POST people.remove",
    "POST people.withdraw",
    "POST sender_ids.delete",
    "POST sends.control",
    "POST sign_in.sign_out",
    "POST smpp.replay",
    "POST smpp.revoke",
    "POST webhooks.control",
    "POST webhooks.replay",
}
"""Forms that lead to a page of the lists; their errors, if they have any, are shown as those of the other forms."""
SHOWN_OTHERWISE = {
    "GET accounts.choose",
    "POST api_keys.rotate",
    "POST smpp.rotate",
    "POST compose.quote",
    "POST compose.write",
    "POST sign_in.with_code",
}
"""By steps of their own in tests/browser/test_accessibility.py, or as a part or a repetition of another page."""


def looked_at() -> Iterator[str]:
    """The routes of the lists, such as `GET sends.show`."""
    map = create_app(Settings(secret_key="a-secret-key-of-the-list-of-pages")).url_map.bind("localhost")
    below = "/accounts/17/live"
    addresses = [below + path for path in OF_ACCOUNT.values()] + [below + pages.WRONG_SEARCHES["search with errors"]]
    addresses += [*OF_PERSON.values(), *OF_OPERATOR.values(), *pages.OF_STRANGERS.values()]
    for path in set(addresses) - {"/nothing"}:
        yield f"GET {map.match(path.format(**OBJECTS).partition('?')[0])[0]}"
    forms = [below + form.path for form in pages.FORMS_OF_ACCOUNT.values()]
    others = (pages.FORMS_OF_PERSON, pages.FORMS_OF_OPERATOR, pages.FORMS_OF_STRANGERS)
    forms += [form.path for group in others for form in group.values()]
    for path in forms:
        yield f"POST {map.match(path.format(**OBJECTS), method='POST')[0]}"


def test_every_page_is_looked_at() -> None:
    app = create_app(Settings(secret_key="a-secret-key-of-the-list-of-pages"))
    every = {
        f"{method} {rule.endpoint}"
        for rule in app.url_map.iter_rules()
        for method in ("GET", "POST")
        if method in (rule.methods or ())
    }
    assert every == set(looked_at()) | NOT_PAGES | LEADS_ON | SHOWN_OTHERWISE
