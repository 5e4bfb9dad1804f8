"""Credits as people read them: in the currency that UNIT names, if any."""

from decimal import Decimal

from babel.numbers import format_currency
from flask import Flask, current_app
from flask_babel import format_decimal, get_locale, gettext

from console.pages.formats import number
from shared.unit import Unit


def credits(value: int | None) -> str:
    """Credits as an amount of the currency that UNIT names, or else as a number; a dash if there are none."""
    unit: Unit = current_app.config["UNIT"]
    amount = unit.amount(value)
    if amount is None:
        return number(value)
    return str(format_currency(Decimal(amount), unit.currency, locale=get_locale(), decimal_quantization=False))


def worth() -> str:
    """What a unit of the currency that UNIT names is in credits, as a hint; empty without a currency."""
    unit: Unit = current_app.config["UNIT"]
    many = format_decimal(10**unit.decimals)
    return (
        gettext("%(credits)s credits are 1 %(currency)s.", credits=many, currency=unit.currency)
        if unit.currency
        else ""
    )


def add_amounts(app: Flask) -> None:
    """Register these for templates."""
    app.jinja_env.filters.update(credits=credits)
    app.jinja_env.globals.update(worth=worth)
