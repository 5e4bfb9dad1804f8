"""The form that changes a send. It carries what it showed, so that it changes only what was edited in it.

A form may stay open while others change the send, or while its reader chooses another time zone: its times stay in the
zone that it showed.
"""

from typing import Any
from zoneinfo import ZoneInfo

from flask_babel import format_datetime, gettext

from console.message.recipients import differs_by_recipient
from console.pages.formats import DATE, NOTHING, local_from_utc, number, parsed, utc_from_local
from console.pages.forms import Form, as_number
from console.pages.languages import can_show, zone

SHOWN = "shown_"
"""What the names of hidden fields begin with that have the texts of the send as the form showed them."""
ZONE = "zone"
"""The field with the name of the time zone of the form's times."""
TIMES = ("send_at", "expires_at")


def change_form(send: Any) -> Form:
    """The form with the values of a send, in the reader's time zone."""
    return _show(Form(), send, zone(), edited=())


def posted_change(send: Any) -> tuple[Form, dict[str, Any]]:
    """The posted form, and what it changes of the send as it is now.

    A field is reported if it is not valid, or if somebody else has changed what was edited. The form shows the send's
    present values where nobody has edited it.
    """
    form = Form.posted()
    at = ZoneInfo(form[ZONE]) if can_show(form[ZONE]) else zone()
    edited, changes = [], {}
    for name, text in _texts(send, at).items():
        typed, shown, now = (_as_compared(each) for each in (form[name], form[SHOWN + name], text))
        if name not in form.values or typed == shown:
            continue
        edited.append(name)
        if typed == now:
            continue
        if shown != now:
            form.errors[name] = gettext(
                "This has changed since the page was shown. It is now: %(value)s. Save again to replace it.",
                value=_readable(name, send[name], at),
            )
            continue
        try:
            changes[name] = _value(name, typed, at)
        except ValueError:
            form.errors[name] = gettext("Enter a date and a time.")
    return _show(form, send, at, edited), changes


def _show(form: Form, send: Any, at: ZoneInfo, edited: Any) -> Form:
    for name, text in _texts(send, at).items():
        form.values[SHOWN + name] = text
        if name not in edited:
            form.values[name] = text
    form.values[ZONE] = at.key
    return form


def _texts(send: Any, at: ZoneInfo) -> dict[str, str]:
    """What can be changed of a send, as texts of the form."""
    texts = {name: local_from_utc(send[name], at) for name in TIMES}
    texts["rate"] = str("" if send["rate"] is None else send["rate"])
    return texts if differs_by_recipient(send) else texts | {"message": send["message"] or ""}


def _value(name: str, text: str, at: ZoneInfo) -> Any:
    """A text of the form as the API takes it. Raises ValueError for an invalid time."""
    if name == "message":
        return text
    if not text:
        return None
    return as_number(text) if name == "rate" else utc_from_local(text, at)


def _readable(name: str, value: Any, at: ZoneInfo) -> str:
    moment = parsed(value) if name in TIMES else None
    if moment:
        return str(format_datetime(moment.astimezone(at), f"{DATE}, HH:mm", rebase=False))
    return (number(value) if name == "rate" else value) or NOTHING


def _as_compared(text: str) -> str:
    """A text as it is compared: a browser changes the ends of its lines, and blanks around it do not count."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()
