"""Amounts of commands: in credits, or in the currency of UNIT as `12.50EUR`."""

from typing import Any

import click

from bulksms.environment import find_installation


class Credits(click.IntRange):
    """A number of credits; with a currency in UNIT, also an amount of it."""

    name = "credits"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The credits."""
        amount = str(value)
        if amount.isascii() and amount[-1:].isalpha():
            unit = find_installation().settings.unit
            digits = amount.removesuffix(unit.currency)
            credits = unit.credits(digits.removeprefix("-")) if unit.currency and digits != amount else None
            if credits is None:
                self.fail(f"{amount!r} is no amount in UNIT={unit}. Write credits, or as 12.50EUR.", param, ctx)
            value = -credits if digits.startswith("-") else credits
        return super().convert(value, param, ctx)


def worth(credits: int) -> str:
    """What credits are in the currency of UNIT, to follow them; empty without one."""
    unit = find_installation().settings.unit
    return f" ({unit.amount(credits)} {unit.currency})" if unit.currency else ""
