"""The form that changes a send. It carries what it showed, so that it changes only what was edited in it.

A form may stay open while others change the send, or while its reader chooses another time zone: its times stay in the
zone that it showed.
"""

from typing import Any
from zoneinfo import ZoneInfo

from flask import current_app
from flask_babel import format_datetime, gettext
from itsdangerous import BadData, URLSafeSerializer

from console.message.recipients import differs_by_recipient
from console.pages.formats import DATE, NOTHING, local_from_utc, number, parsed, utc_from_local
from console.pages.forms import Form, as_number
from console.pages.languages import zone

SHOWN = "shown"
"""The field with the signed values of the send and the time zone, as the form showed them."""
ZONE = "zone"
"""The value of the form, not a field, with the name of its time zone."""
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
    now = _values(send)
    kept = _unsigned(form[SHOWN], send)
    at = ZoneInfo(kept[ZONE]) if kept else zone()
    shown = {**now, **kept[SHOWN]} if kept else now
    shown_texts, now_texts = _texts(shown, at), _texts(now, at)
    typed = {name: _as_compared(form[name]) for name in now if name in form.values}
    edited = [name for name, text in typed.items() if text != shown_texts[name]]
    changes: dict[str, Any] = {}
    for name in edited:
        if typed[name] == now_texts[name]:
            continue
        if kept and shown[name] == now[name]:
            try:
                changes[name] = _value(name, typed[name], at)
            except ValueError:
                form.errors[name] = gettext("Enter a date and a time.")
        else:
            value = _readable(name, now[name], at)
            form.errors[name] = _changed(value) if kept else _out_of_date(value)
    return _show(form, send, at, edited), changes


def _show(form: Form, send: Any, at: ZoneInfo, edited: Any) -> Form:
    now = _values(send)
    for name, text in _texts(now, at, as_shown=True).items():
        if name not in edited:
            form.values[name] = text
    form.values[SHOWN] = str(_signer(send).dumps({ZONE: at.key, SHOWN: now}))
    form.values[ZONE] = at.key
    return form


def _values(send: Any) -> dict[str, Any]:
    """What can be changed of a send, as the API has it."""
    names = [*TIMES, "rate", *([] if differs_by_recipient(send) else ["message"])]
    return {name: send[name] for name in names}


def _texts(values: dict[str, Any], at: ZoneInfo, *, as_shown: bool = False) -> dict[str, str]:
    """Values as texts of the form: as it shows them, or as they are compared."""
    texts = {
        name: local_from_utc(value, at) if name in TIMES else str("" if value is None else value)
        for name, value in values.items()
    }
    return texts if as_shown else {name: _as_compared(text) for name, text in texts.items()}


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


def _changed(value: str) -> str:
    return str(
        gettext(
            "This has changed since the page was shown. It is now: %(value)s. Save again to replace it.", value=value
        )
    )


def _out_of_date(value: str) -> str:
    """For a form that does not tell what it showed, such as one of an older version of the console."""
    return str(gettext("The page was out of date. This is now: %(value)s. Save again to replace it.", value=value))


def _as_compared(text: str) -> str:
    """A text as it is compared: a browser changes the ends of its lines, and blanks around it do not count."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _unsigned(text: str, send: Any) -> dict[str, Any] | None:
    """What a form of this send showed; None if the console has not signed it."""
    try:
        opened: dict[str, Any] = _signer(send).loads(text)
    except BadData:
        return None
    return opened


def _signer(send: Any) -> URLSafeSerializer:
    return URLSafeSerializer(current_app.config["SECRET_KEY"], salt=f"change of send {send['send_id']}")
