"""What a credit is worth: the setting UNIT. Everything is counted in credits; amounts are only written and read."""

import re
from decimal import Decimal
from typing import Final, NamedTuple

from shared.environment import SettingsError

FORM: Final = re.compile(r"([A-Z]{3}):([0-9])")
AMOUNT: Final = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")


class Unit(NamedTuple):
    """The currency (ISO 4217) and decimals of a credit: with `EUR:4` it is 0.0001 EUR. Without a currency it has no
    amount."""

    currency: str = ""
    decimals: int = 0

    def __str__(self) -> str:
        return f"{self.currency}:{self.decimals}" if self.currency else "sms"

    def amount(self, credits: int | None) -> str | None:
        """Credits as a decimal amount of the currency; None without one."""
        return None if credits is None or not self.currency else f"{Decimal(credits).scaleb(-self.decimals):f}"

    def credits(self, amount: str) -> int | None:
        """The credits of an amount; None if it is no amount, or has more decimals than a credit."""
        if AMOUNT.fullmatch(amount) is None:
            return None
        credits = Decimal(amount).scaleb(self.decimals)
        return int(credits) if credits == int(credits) else None


CREDITS: Final = Unit()


def unit_of(text: str) -> Unit:
    """The value of UNIT; empty is `sms`. Raises SettingsError."""
    found = FORM.fullmatch(text)
    if found is None and text not in ("", "sms"):
        raise SettingsError(
            f"UNIT is {text!r}. It is `sms`, or a currency and the decimals of a credit: with EUR:4, a credit is 0.0001"
            " EUR."
        )
    return CREDITS if found is None else Unit(found[1], int(found[2]))
