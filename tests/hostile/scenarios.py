"""The catalogue of attacks."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import NamedTuple

from tests.hostile import churn, customers, insiders, people, strangers
from tests.hostile.wire import Wire


class Scenario(NamedTuple):
    """One attack. `title` says what it is at full strength."""

    name: str
    title: str
    attack: Callable[[Wire], Awaitable[None]]
    shows: tuple[str, ...]
    """What must come back, as the attacker counts it: statuses, `held` connections, or `ended` ones."""
    needs: tuple[str, ...] = ()
    """What must have come at least once, each."""
    through_nginx: bool = False
    """Whether it attacks HTTP itself: then attacker and victim have nginx and deploy/nginx.conf before the API."""

    def no_attack(self, did: Counter[str]) -> Iterator[str]:
        """Say so if less of it came back than of anything else, or nothing: a request that is wrong attacks nobody."""
        shown = sum(did[each] for each in self.shows)
        others = sum(count for each, count in did.items() if each.isdecimal() and each not in self.shows)
        if not shown or shown < others:
            yield f"this was no attack: not most of what came back is {' or '.join(self.shows)}, but {dict(did)}"
        if lacking := [each for each in self.needs if not did[each]]:
            yield f"this was no attack: it lacks {' and '.join(lacking)}; there was {dict(did)}"


LIMITED = ("200", "409", "429")
"""Requests that do what they ask, or of which there is a limit."""
ANSWERED, HELD = ("200", "429"), ("held", "408", "429", "503")
"""Requests that do what they ask or are too many; connections that are kept, or ended because they are slow or many."""

SCENARIOS = (
    Scenario(
        "never", "1,300 chunked bodies that never come", strangers.bodies_that_never_come, HELD, through_nginx=True
    ),
    Scenario(
        "slow",
        "600 bodies that come byte by byte",
        strangers.slow_bodies,
        (*HELD, "401"),
        ("held",),
        through_nginx=True,
    ),
    Scenario(
        "idle",
        "5,000 half heads and idle connections",
        strangers.idle_connections,
        ("held", "200", "408"),
        through_nginx=True,
    ),
    Scenario(
        "keys",
        "objects with 7,000 and 250,000 equal keys",
        strangers.names_that_repeat,
        ("400", "413", "429"),
        ("400",),
    ),
    Scenario("fields", "objects with 999 unknown fields", strangers.unknown_names, ("400", "413", "429"), ("400",)),
    Scenario("trailers", "trailers without an end, 16 connections", strangers.endless_trailers, ("400", "ended")),
    Scenario("guess", "secrets guessed, 64 at a time", strangers.guessed_secrets, ("401", "429")),
    Scenario(
        "sign-ins",
        "passwords guessed from 100 addresses, 200 at a time",
        strangers.guessed_sign_ins,
        ("401", "403", "429"),
    ),
    Scenario(
        "files",
        "200 connections that ask the console for files and read nothing",
        strangers.files_not_read,
        ("200", "held"),
    ),
    Scenario(
        "operators",
        "operators' secrets and tokens guessed, 64 at a time",
        strangers.guessed_operators,
        ("401", "403", "429"),
    ),
    Scenario(
        "callbacks",
        "callbacks of carriers and sign-ins by OIDC forged, 64 at a time",
        strangers.callbacks_and_sign_ins_by_oidc,
        ("200", "401", "404", "429"),
        ("401",),
    ),
    Scenario(
        "late-opt-outs", "opt-outs of 3,000 during a bulk send of 20,000", churn.late_opt_outs, ANSWERED, ("200",)
    ),
    Scenario("lists", "lists and reports of 500,000 messages, 64 at a time", customers.large_lists, ANSWERED),
    Scenario("quotes", "quotes for 300,000 contacts, 48 at a time", customers.quotes_of_a_large_group, ANSWERED),
    Scenario("contacts", "lists of 100,000 contacts, 40 at a time", customers.contacts_added, ANSWERED),
    Scenario("bulk", "bulk sends of 10,000, 64 at a time", customers.bulk_sends, ANSWERED),
    Scenario("single", "single sends, 64 at a time", customers.single_sends, ANSWERED),
    Scenario("twins", "bulk sends with one Idempotency-Key, 64 at a time", customers.twins, ANSWERED),
    Scenario("exports", "140 exports, read at 1 kB/s", customers.exports_read_slowly, ANSWERED, through_nginx=True),
    Scenario(
        "revoked",
        "tokens got and revoked, 32 at a time, beside 500,000 revoked ones",
        customers.tokens_revoked,
        ANSWERED,
    ),
    Scenario(
        "opt-outs", "opt-out files of 4,000,000 rows, 8 at a time", customers.millions_of_opt_outs, ("400", "429")
    ),
    Scenario(
        "imports",
        "rotten files imported, 8 at a time",
        customers.rotten_imports,
        ("200", "400", "409", "429"),
        ("200",),
    ),
    Scenario(
        "large-imports", "files of 100,000 contacts imported, 16 at a time", churn.large_imports, LIMITED, ("200",)
    ),
    Scenario("erasures", "erasures of phones, 32 at a time", churn.erasures, LIMITED, ("200",)),
    Scenario(
        "churn", "keys, groups and webhooks made and removed, 64 at a time", churn.keys_groups_and_webhooks, LIMITED
    ),
    Scenario(
        "one-phone",
        "one phone given 5,000 messages at once, 32 at a time",
        churn.one_phone,
        ("200", "400", "429"),
        ("200",),
    ),
    Scenario(
        "redis",
        "20 entries a second in the queue that are no tasks, and messages to shut down",
        insiders.writer_of_redis,
        ("entries",),
        ("shutdowns",),
    ),
    Scenario(
        "webhooks", "19 webhooks whose receivers never end", customers.webhooks_without_an_end, ANSWERED, ("posts",)
    ),
    Scenario("pages", "1,000 open pages of one account", people.open_pages, ANSWERED),
    Scenario("readers", "200 connections that read pages at 1 kB/s", people.pages_read_slowly, ANSWERED),
    Scenario("operator-lists", "largest lists of the operator API, 64 at a time", people.operators_lists, ANSWERED),
)
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
