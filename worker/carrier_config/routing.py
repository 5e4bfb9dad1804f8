"""Reads `[[routes]]`, `[[limits]]` and `prices` of CARRIERS_FILE."""

import difflib
import re
from collections.abc import Collection, Mapping
from typing import Any

from shared.carriers.control import MAX_RATE
from shared.lifecycle import LANES
from shared.senders.sender_ids import form_of
from worker.pacing.sender_and_prefix_limits import Limit
from worker.routing.routes import Route, Routes

KEYS = ("name", "prefixes", "senders", "categories", "carriers", "choose")
LIMIT_KEYS = ("sender", "prefix", "rate")
CHOICES = ("order", "cheapest")
PREFIX = re.compile(r"[1-9][0-9]{0,14}")
DEFAULT = "default"


class RouteError(ValueError):
    """A route, or an entry of another `table`, is invalid. Says what to do.

    `number` is the entry's, from 1 (0: all entries); `key` is its setting.
    """

    def __init__(self, number: int, key: str | None, detail: str, table: str = "routes") -> None:
        super().__init__(detail)
        self.number = number
        self.key = key
        self.table = table


def read_prices(value: Any) -> dict[str, float]:
    """The price of a segment by prefix; "" is the default. Raises ValueError."""
    if not isinstance(value, dict):
        raise ValueError('prices: write { "254" = 0.8, default = 1.5 }')
    for prefix, price in value.items():
        if prefix != DEFAULT and not PREFIX.fullmatch(prefix):
            raise ValueError(f"prices: {prefix!r} is not a prefix; write digits without a plus sign, or {DEFAULT}")
        if isinstance(price, bool) or not isinstance(price, (int, float)) or not 0 <= price < 1e6:
            raise ValueError(f"prices: {prefix} must be a number of at least 0, not {price!r}")
    return {"" if prefix == DEFAULT else prefix: float(price) for prefix, price in value.items()}


def read_limits(value: Any) -> tuple[Limit, ...]:
    """The limits, slowest first. Raises RouteError."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise RouteError(0, None, "limits are tables: write [[limits]]", "limits")
    limits: dict[str, Limit] = {}
    for number, each in enumerate(value, 1):
        limit = _limit(number, each)
        if limit.name in limits:
            raise RouteError(number, None, f"there already is a limit of {limit.name}: remove one of them", "limits")
        limits[limit.name] = limit
    return tuple(sorted(limits.values(), key=lambda limit: (limit.rate, limit.name)))


def _limit(number: int, value: Mapping[str, Any]) -> Limit:
    def refuse(key: str | None, detail: str) -> RouteError:
        return RouteError(number, key, detail, "limits")

    for key in value:
        if key not in LIMIT_KEYS:
            raise refuse(key, f"there is no setting {key}{_nearest(key, LIMIT_KEYS)}")
    sender, prefix, rate = (value.get(key) for key in LIMIT_KEYS)
    if sender is None and prefix is None:
        raise refuse(None, "a limit needs a sender, a prefix, or both")
    if sender is not None and (not isinstance(sender, str) or form_of(sender) is None):
        raise refuse("sender", f"sender: {sender!r} is not a valid sender ID; write it as approved")
    if prefix is not None and (not isinstance(prefix, str) or not PREFIX.fullmatch(prefix)):
        raise refuse("prefix", f"prefix: {prefix!r}: write digits without a plus sign, in quotes")
    if rate is None:
        raise refuse(None, "rate is missing: write segments per second")
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 < rate <= MAX_RATE:
        raise refuse("rate", f"rate must be above 0 and at most {MAX_RATE:,} segments per second, not {rate!r}")
    return Limit(float(rate), sender, prefix)


def read_routes(value: Any, prices: Mapping[str, Mapping[str, float]], limits: tuple[Limit, ...] = ()) -> Routes:
    """The routes to the carriers in `prices`; without routes, one to all carriers in the file's order."""
    if not isinstance(value, list):
        raise RouteError(0, None, "routes are tables: write [[routes]]")
    if not value:
        return Routes((Route("all", tuple(prices)),), prices, limits)
    routes = tuple(_route(number, each, prices) for number, each in enumerate(value, 1))
    for number, route in enumerate(routes[:-1], 1):
        if not (route.prefixes or route.senders or route.lanes):
            raise RouteError(
                number, None, "this route takes every message, so those after it are never reached: add conditions"
            )
    last = routes[-1]
    if last.prefixes or last.senders or last.lanes:
        raise RouteError(len(routes), None, "the last route must take every message: add one without conditions")
    return Routes(routes, prices, limits)


def _route(number: int, value: Any, prices: Mapping[str, Mapping[str, float]]) -> Route:
    if not isinstance(value, dict):
        raise RouteError(number, None, "routes are tables: write [[routes]]")
    for key in value:
        if key not in KEYS:
            raise RouteError(number, key, f"there is no setting {key}{_nearest(key, KEYS)}")
    name = value.get("name", f"route {number}")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9 _-]{1,40}", name):
        raise RouteError(number, "name", "name: use up to 40 letters, digits, spaces, - and _")
    carriers = _names(number, value, "carriers")
    if not carriers:
        raise RouteError(number, "carriers", f"carriers: name at least one of {', '.join(prices)}")
    for carrier in carriers:
        if carrier not in prices:
            raise RouteError(number, "carriers", f"there is no carrier {carrier!r}{_nearest(carrier, prices)}")
    categories = _names(number, value, "categories")
    for category in categories:
        if category not in LANES:
            raise RouteError(number, "categories", f"categories: {category!r} is not one of {', '.join(LANES)}")
    prefixes = _names(number, value, "prefixes")
    for prefix in prefixes:
        if not PREFIX.fullmatch(prefix):
            raise RouteError(number, "prefixes", f"prefixes: {prefix!r}: write digits without a plus sign")
    choose = value.get("choose", CHOICES[0])
    if choose not in CHOICES:
        raise RouteError(number, "choose", f"choose must be one of {', '.join(CHOICES)}, not {choose!r}")
    for carrier in carriers if choose == "cheapest" else ():
        if not prices[carrier]:
            raise RouteError(number, "choose", f"choose: [carrier.{carrier}] has no prices to compare; add prices")
    lanes = frozenset(lane for lane, category in enumerate(LANES) if category in categories)
    return Route(name, carriers, prefixes, frozenset(_names(number, value, "senders")), lanes, choose == "cheapest")


def _names(number: int, value: Mapping[str, Any], key: str) -> tuple[str, ...]:
    names = value.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise RouteError(number, key, f'{key}: write a list of strings, such as {key} = ["..."]')
    if len(set(names)) < len(names):
        raise RouteError(number, key, f"{key}: one of them is listed twice")
    return tuple(names)


def _nearest(name: str, valid: Collection[str]) -> str:
    near = difflib.get_close_matches(name, list(valid), 1)
    return f"; did you mean {near[0]}?" if near else f", only {', '.join(valid)}"
