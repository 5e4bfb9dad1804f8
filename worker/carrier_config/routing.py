"""Reads `[[routes]]`, `[[limits]]` and `prices` of CARRIERS_FILE. All errors are ValueErrors that say what to do."""

import difflib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeVar

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

T = TypeVar("T")


def read_prices(value: Any) -> dict[str, float]:
    """The price of a segment by prefix; "" is the default."""
    if not isinstance(value, dict):
        raise ValueError('prices: write { "254" = 0.8, default = 1.5 }')
    for prefix, price in value.items():
        if prefix != DEFAULT and not PREFIX.fullmatch(prefix):
            raise ValueError(f"prices: {prefix!r} is not a prefix; write digits without a plus sign, or {DEFAULT}")
        if isinstance(price, bool) or not isinstance(price, (int, float)) or not 0 <= price < 1e6:
            raise ValueError(f"prices: {prefix} must be a number of at least 0, not {price!r}")
    return {"" if prefix == DEFAULT else prefix: float(price) for prefix, price in value.items()}


def _entries(table: str, value: Any, keys: Collection[str], read: Callable[[int, dict[str, Any]], T]) -> Iterator[T]:
    """The entries of `[[table]]`, each read by `read` from its number and settings. Errors name the number, from 1."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise ValueError(f"{table} are tables: write [[{table}]]")
    for number, each in enumerate(value, 1):
        try:
            for key in each:
                if key not in keys:
                    raise ValueError(f"there is no setting {key}{_nearest(key, keys)}")
            yield read(number, each)
        except ValueError as error:
            raise ValueError(f"[[{table}]] {number}: {error}") from None


def read_limits(value: Any) -> tuple[Limit, ...]:
    """The limits, slowest first."""
    limits: dict[str, Limit] = {}

    def read(_: int, each: dict[str, Any]) -> None:
        limit = _limit(each)
        if limit.name in limits:
            raise ValueError(f"there already is a limit of {limit.name}: remove one of them")
        limits[limit.name] = limit

    list(_entries("limits", value, LIMIT_KEYS, read))
    return tuple(sorted(limits.values(), key=lambda limit: (limit.rate, limit.name)))


def _limit(value: Mapping[str, Any]) -> Limit:
    sender, prefix, rate = (value.get(key) for key in LIMIT_KEYS)
    if sender is None and prefix is None:
        raise ValueError("a limit needs a sender, a prefix, or both")
    if sender is not None and (not isinstance(sender, str) or form_of(sender) is None):
        raise ValueError(f"sender: {sender!r} is not a valid sender ID; write it as approved")
    if prefix is not None and (not isinstance(prefix, str) or not PREFIX.fullmatch(prefix)):
        raise ValueError(f"prefix: {prefix!r}: write digits without a plus sign, in quotes")
    if rate is None:
        raise ValueError("rate is missing: write segments per second")
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 < rate <= MAX_RATE:
        raise ValueError(f"rate must be above 0 and at most {MAX_RATE:,} segments per second, not {rate!r}")
    return Limit(float(rate), sender, prefix)


def read_routes(value: Any, prices: Mapping[str, Mapping[str, float]], limits: tuple[Limit, ...] = ()) -> Routes:
    """The routes to the carriers in `prices`; without routes, one to all carriers in the file's order."""
    routes = list(_entries("routes", value, KEYS, lambda number, each: _route(number, each, prices)))
    if not routes:
        return Routes((Route("all", tuple(prices)),), prices, limits)
    for number, route in enumerate(routes, 1):
        takes_all = not (route.prefixes or route.senders or route.lanes)
        if number == len(routes) and not takes_all:
            raise ValueError(f"[[routes]] {number}: the last one must take every message: add one without conditions")
        if number < len(routes) and takes_all:
            raise ValueError(f"[[routes]] {number}: it takes every message, so no other is reached: add conditions")
    return Routes(tuple(routes), prices, limits)


def _route(number: int, value: Mapping[str, Any], prices: Mapping[str, Mapping[str, float]]) -> Route:
    name = value.get("name", f"route {number}")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9 _-]{1,40}", name):
        raise ValueError("name: use up to 40 letters, digits, spaces, - and _")
    carriers = _names(value, "carriers", prices)
    if not carriers:
        raise ValueError(f"carriers: name at least one of {', '.join(prices)}")
    categories = _names(value, "categories", LANES)
    prefixes = _names(value, "prefixes")
    for prefix in prefixes:
        if not PREFIX.fullmatch(prefix):
            raise ValueError(f"prefixes: {prefix!r}: write digits without a plus sign")
    choose = value.get("choose", CHOICES[0])
    if choose not in CHOICES:
        raise ValueError(f"choose must be one of {', '.join(CHOICES)}, not {choose!r}")
    for carrier in carriers if choose == "cheapest" else ():
        if not prices[carrier]:
            raise ValueError(f"choose: [carrier.{carrier}] has no prices to compare; add prices")
    lanes = frozenset(lane for lane, category in enumerate(LANES) if category in categories)
    return Route(name, carriers, prefixes, frozenset(_names(value, "senders")), lanes, choose == "cheapest")


def _names(value: Mapping[str, Any], key: str, valid: Collection[str] | None = None) -> tuple[str, ...]:
    """A list of names, all of them `valid`."""
    names = value.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f'{key}: write a list of strings, such as {key} = ["..."]')
    if len(set(names)) < len(names):
        raise ValueError(f"{key}: one of them is listed twice")
    for name in names:
        if valid is not None and name not in valid:
            raise ValueError(f"{key}: there is no {name!r}{_nearest(name, valid)}")
    return tuple(names)


def _nearest(name: str, valid: Collection[str]) -> str:
    near = difflib.get_close_matches(name, list(valid), 1)
    return f"; did you mean {near[0]}?" if near else f", only {', '.join(valid)}"
