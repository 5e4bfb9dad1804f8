"""The reader's language and time zone."""

from zoneinfo import ZoneInfo, available_timezones

from babel.dates import get_timezone as zone_of_babel
from flask import Flask, request
from flask_babel import Babel, get_timezone

from console.session.current import maybe_person

ZONES = available_timezones()
LANGUAGES = {"en": "English", "de": "Deutsch"}


def language() -> str:
    """The person's language; before they have signed in, the browser's."""
    person = maybe_person()
    chosen = str(person.details.get("locale") or "") if person else ""
    if chosen.partition("-")[0].partition("_")[0] in LANGUAGES:
        return chosen.partition("-")[0].partition("_")[0]
    return request.accept_languages.best_match(LANGUAGES) or "en"


def time_zone() -> str:
    """The person's time zone, or UTC."""
    person = maybe_person()
    chosen = str(person.details.get("time_zone") or "") if person else ""
    return chosen if can_show(chosen) else "UTC"


def can_show(name: str) -> bool:
    """Whether times can be shown in a time zone: Babel knows fewer than Python."""
    if name not in ZONES:
        return False
    try:
        zone_of_babel(name)
    except LookupError:
        return False
    return True


def zone() -> ZoneInfo:
    """The time zone of the current response."""
    return ZoneInfo(str(get_timezone()))


def add_languages(app: Flask) -> None:
    """Show texts, times and numbers in the reader's language and time zone."""
    app.config["BABEL_TRANSLATION_DIRECTORIES"] = "translations"
    Babel(app, locale_selector=language, timezone_selector=time_zone)
    app.jinja_env.globals.update(languages=LANGUAGES, language=language)
