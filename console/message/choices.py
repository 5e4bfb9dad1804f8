"""What can be chosen in a form: the first sender IDs and groups, or those that contain what was searched for."""

from typing import Any, NamedTuple

from bulksms_client.errors import ApiError

from console.message.drafts import UUID_FORM
from console.pages.forms import Form
from console.session.current import account

SHOWN = 100
ALL = 1000
"""The most sender IDs on a page of the API, and of an account."""
LONGEST_SEARCH = 100


class Choices(NamedTuple):
    """What is offered, including the current choice, and whether there are more."""

    offered: list[Any]
    more: bool


def senders(form: Form, suggested: str | None = None) -> Choices:
    """Approved sender IDs that contain `find_sender`. If none is chosen, `suggested` is, provided it is approved."""
    searched = _searched(form, "find_sender")
    page = account().sender_ids.page(limit=SHOWN, status="approved", search=searched)
    names, more = [each["sender_id"] for each in page["data"]], page["next_cursor"] is not None
    if suggested and not form["sender_id"] and (suggested in names or ((more or searched) and _is_approved(suggested))):
        form.values["sender_id"] = suggested
    chosen = form["sender_id"]
    return Choices(names if not chosen or chosen in names else [chosen, *names], more)


def groups(form: Form) -> Choices:
    """Groups whose names contain `find_group`."""
    page = account().groups.page(limit=SHOWN, search=_searched(form, "find_group"))
    found, chosen = list(page["data"]), form["group_id"]
    if UUID_FORM.fullmatch(chosen) and chosen not in [each["group_id"] for each in found]:
        try:
            found.insert(0, account().groups.one(chosen))
        except ApiError as error:
            if error.status != 404:
                raise
    return Choices(found, page["next_cursor"] is not None)


def find_sender(name: str) -> Any:
    """The account's sender ID with exactly this name, or None."""
    searched = _printable(name)
    found = account().sender_ids.page(limit=ALL, search=searched)["data"] if searched else []
    return next((each for each in found if each["sender_id"] == name), None)


def _is_approved(name: str) -> bool:
    found = find_sender(name)
    return found is not None and found["status"] == "approved"


def _searched(form: Form, name: str) -> str | None:
    return _printable(form[name])


def _printable(text: str) -> str | None:
    return "".join(filter(str.isprintable, text)).strip()[:LONGEST_SEARCH] or None
