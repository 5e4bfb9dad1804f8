"""The catalogue of attacks."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from tests.hostile import customers, people, strangers
from tests.hostile.wire import Wire


class Scenario(NamedTuple):
    """One attack. `title` says what it is at full strength."""

    name: str
    title: str
    attack: Callable[[Wire], Awaitable[None]]


SCENARIOS = (
    Scenario("never", "1,300 chunked bodies that never come", strangers.bodies_that_never_come),
    Scenario("slow", "600 bodies that come byte by byte", strangers.slow_bodies),
    Scenario("idle", "5,000 half heads and idle connections", strangers.idle_connections),
    Scenario("keys", "objects with 7,000 and 250,000 equal keys", strangers.names_that_repeat),
    Scenario("fields", "objects with 999 unknown fields", strangers.unknown_names),
    Scenario("trailers", "trailers without an end, 16 connections", strangers.endless_trailers),
    Scenario("guess", "secrets guessed, 64 at a time", strangers.guessed_secrets),
    Scenario("sign-ins", "passwords guessed from 100 addresses, 200 at a time", strangers.guessed_sign_ins),
    Scenario("files", "200 connections that ask the console for files and read nothing", strangers.files_not_read),
    Scenario("operators", "operators' secrets and tokens guessed, 64 at a time", strangers.guessed_operators),
    Scenario("lists", "lists and reports of 500,000 messages, 64 at a time", customers.large_lists),
    Scenario("quotes", "quotes for 300,000 contacts, 48 at a time", customers.quotes_of_a_large_group),
    Scenario("contacts", "lists of 100,000 contacts, 40 at a time", customers.contacts_added),
    Scenario("bulk", "bulk sends of 10,000, 64 at a time", customers.bulk_sends),
    Scenario("single", "single sends, 64 at a time", customers.single_sends),
    Scenario("twins", "bulk sends with one Idempotency-Key, 64 at a time", customers.twins),
    Scenario("exports", "140 exports, read at 1 kB/s", customers.exports_read_slowly),
    Scenario("revoked", "tokens got and revoked, 32 at a time", customers.tokens_revoked),
    Scenario("opt-outs", "opt-out files of 4,000,000 rows, 8 at a time", customers.millions_of_opt_outs),
    Scenario("imports", "rotten files imported, 8 at a time", customers.rotten_imports),
    Scenario("webhooks", "20 webhooks whose receivers never end", customers.webhooks_without_an_end),
    Scenario("pages", "1,000 open pages of one account", people.open_pages),
    Scenario("readers", "200 connections that read pages at 1 kB/s", people.pages_read_slowly),
    Scenario("operator-lists", "largest lists of the operator API, 64 at a time", people.operators_lists),
)
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
