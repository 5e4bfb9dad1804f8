"""Amounts of commands, in credits or in the currency of UNIT."""

import click
import pytest

from bulksms.amounts import Credits, worth

NEEDED = {"DATABASE_URL": "postgresql://db/x", "REDIS_URL": "redis://redis", "SECRET_KEY": "k" * 40}


def test_an_amount_of_the_currency_is_its_credits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**NEEDED, "UNIT": "EUR:4"}.items():
        monkeypatch.setenv(name, value)
    for typed, credits in (("12", 12), ("-3", -3), ("12.50EUR", 125_000), ("-0.0001EUR", -1)):
        assert Credits().convert(typed, None, None) == credits
    for wrong in ("12.50", "1USD", "0.00001EUR", "EUR", "many"):
        with pytest.raises(click.BadParameter):
            Credits().convert(wrong, None, None)
    assert worth(125_000) == " (12.5000 EUR)"
    monkeypatch.setenv("UNIT", "sms")
    assert worth(125_000) == ""
    with pytest.raises(click.BadParameter, match="UNIT=sms"):
        Credits().convert("1EUR", None, None)
