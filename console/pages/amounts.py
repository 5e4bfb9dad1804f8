"""Credits as people read and type them: in the currency that UNIT names, if any."""

from decimal import Decimal

from babel.numbers import format_currency, format_decimal, get_decimal_symbol
from flask import Flask, current_app
from flask_babel import get_locale, gettext

from console.pages.formats import number
from console.pages.forms import Form
from shared.unit import Unit


def credits(value: int | None) -> str:
    """Credits as an amount of the currency that UNIT names, or else as a number; a dash if there are none."""
    unit: Unit = current_app.config["UNIT"]
    amount = unit.amount(value)
    if amount is None:
        return number(value)
    return str(format_currency(Decimal(amount), unit.currency, locale=get_locale(), decimal_quantization=False))


def as_typed(value: int | None) -> str:
    """Credits as they are typed into a form: in the currency that UNIT names, if any; empty if there are none."""
    unit: Unit = current_app.config["UNIT"]
    if value is None:
        return ""
    amount = Decimal(unit.amount(value) or value)
    return str(format_decimal(amount, locale=get_locale(), decimal_quantization=False, group_separator=False))


def typed_credits(form: Form, name: str = "credits", *, signed: bool = False) -> int:
    """The credits of what was typed into a field, with the decimal point of the language. 0 with an error in the form.

    Thousands are not grouped, as one language's group is another one's decimal point.
    """
    unit: Unit = current_app.config["UNIT"]
    form.values.setdefault(name, "")
    text = form[name].strip()
    digits, point = text.removeprefix("-" if signed else ""), get_decimal_symbol(get_locale())
    amount = digits.translate({ord("."): "?", ord(point): "."}) if unit.currency else digits.replace(".", "?")
    if (credits := unit.credits(amount)) is not None:
        return -credits if digits != text else credits
    example = format_decimal(Decimal("12.5"), locale=get_locale())
    form.errors[name] = (
        gettext("Enter an amount in %(currency)s, such as %(example)s.", currency=unit.currency, example=example)
        if unit.currency
        else gettext("Enter a whole number of credits, such as 1000.")
    )
    return 0


def worth() -> str:
    """That amounts are typed in the currency that UNIT names, as a hint; empty without a currency."""
    unit: Unit = current_app.config["UNIT"]
    return gettext("In %(currency)s", currency=unit.currency) if unit.currency else ""


def add_amounts(app: Flask) -> None:
    """Register these for templates."""
    app.jinja_env.filters.update(credits=credits)
    app.jinja_env.globals.update(worth=worth)
