"""Types of options that are numbers."""

import math
from typing import Any

import click

MAX_INTEGER = 2**31 - 1
"""The largest number that a column or a limit of Postgres takes."""


class Number(click.FloatRange):
    """A number within a range: no infinity and, unlike click's, no NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Convert to float. Fails for what is not finite."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number
