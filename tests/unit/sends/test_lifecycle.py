"""The states of a message, a send and a batch, and the ways between them."""

import ast
import re
from enum import StrEnum
from functools import cache
from pathlib import Path

import pytest

import shared
from shared.lifecycle import (
    ALLOWED_TRANSITIONS,
    CHARGED_STATUSES,
    LANE_WEIGHTS,
    LANES,
    OPEN_SENDS,
    STORED_STATUSES,
    BatchState,
    Category,
    MessageStatus,
    SendState,
    as_sql,
)
from tests.harness.syntax_trees import syntax_tree

ROOT = Path(shared.__file__).parent.parent
RANK = list(MessageStatus)
NEVER_LEFT = {(MessageStatus.SENDING, MessageStatus.QUEUED)}
"""The one way back: the message certainly never left."""
FINAL = {MessageStatus.REJECTED, MessageStatus.FAILED, MessageStatus.CANCELED, MessageStatus.DELIVERED}


def sql() -> str:
    """Every string of the code that changes states, but no docstring."""
    found = []
    for path in [*(ROOT / "api").rglob("*.py"), *(ROOT / "worker").rglob("*.py"), *(ROOT / "shared").rglob("*.py")]:
        nodes = list(ast.walk(syntax_tree(path)))
        documentation = {
            id(node.value) for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        found += [
            node.value
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
        ]
    return "\n".join(found)


def test_it_works() -> None:
    assert MessageStatus.DELIVERED in ALLOWED_TRANSITIONS[MessageStatus.SENT]
    assert MessageStatus.UNDELIVERED not in ALLOWED_TRANSITIONS[MessageStatus.DELIVERED]
    assert as_sql(ALLOWED_TRANSITIONS[MessageStatus.SENT]) == "'delivered', 'undelivered'"


def test_every_status_lists_what_may_follow() -> None:
    assert set(ALLOWED_TRANSITIONS) == set(MessageStatus)


def test_a_message_never_goes_back() -> None:
    back = {
        (before, after)
        for before in ALLOWED_TRANSITIONS
        for after in ALLOWED_TRANSITIONS[before]
        if RANK.index(after) <= RANK.index(before)
    }
    assert back == NEVER_LEFT


def test_every_status_can_be_reached() -> None:
    reached, new = set[MessageStatus](), {MessageStatus.SCHEDULED}
    while new:
        reached |= new
        new = {after for before in new for after in ALLOWED_TRANSITIONS[before]} - reached
    assert reached == set(MessageStatus)


def test_nothing_follows_a_final_status() -> None:
    assert {status for status in MessageStatus if not ALLOWED_TRANSITIONS[status]} == FINAL


def test_from_every_status_an_end_can_be_reached() -> None:
    ended = set(FINAL)
    while more := {status for status in MessageStatus if ALLOWED_TRANSITIONS[status] & ended} - ended:
        ended |= more
    assert ended == set(MessageStatus)


def test_a_message_that_was_with_a_carrier_is_never_submitted_again() -> None:
    submitted = MessageStatus.SENDING
    for status in STORED_STATUSES:
        reached, new = set[MessageStatus](), {status}
        while new:
            reached |= new
            new = {after for before in new for after in ALLOWED_TRANSITIONS[before]} - reached
        assert submitted not in reached, status


def test_the_stored_statuses_are_in_doubt_and_all_after_it() -> None:
    assert list(STORED_STATUSES) == RANK[RANK.index(MessageStatus.IN_DOUBT) :]


def test_what_is_charged_stays_charged_and_what_was_not_is_not_charged_by_a_receipt() -> None:
    for status in CHARGED_STATUSES:
        assert ALLOWED_TRANSITIONS[status] <= CHARGED_STATUSES
    uncharged_then_charged = {
        (before, after)
        for before in STORED_STATUSES
        for after in ALLOWED_TRANSITIONS[before]
        if before not in CHARGED_STATUSES and after in CHARGED_STATUSES
    }
    assert {before for before, _ in uncharged_then_charged} == {MessageStatus.IN_DOUBT, MessageStatus.EXPIRED}


@cache
def code_that_sets_states() -> str:
    return "\n".join(
        path.read_text() for folder in ("api", "worker", "shared") for path in sorted((ROOT / folder).rglob("*.py"))
    )


@pytest.mark.parametrize(
    "state",
    [*SendState, *BatchState],
    ids=lambda state: f"{type(state).__name__}-{state}",
)
def test_every_state_is_set_somewhere(state: StrEnum) -> None:
    kind = "send_state" if isinstance(state, SendState) else "batch_state"
    code = code_that_sets_states()
    given = [
        rf"state = '{state}'",
        rf"(?:THEN|ELSE) (?:CAST\()?'{state}'(?: AS {kind}\))?",
        rf'return "{state}" if',
        rf'if .* else "{state}"',
        rf'"{state}" if draft\.send_at',
        rf"{type(state).__name__}\.{state.name}\b",
        rf"close_unsent\(connection, send, \"{state}\"\)",
        rf"'{state}' AS outcome",
        rf":send, :account, '{state}'",
    ]
    assert [pattern for pattern in given if re.search(pattern, code)], f"nothing makes a {kind} {state}"


def test_no_sql_names_an_unknown_state() -> None:
    states = {str(state) for kind in (MessageStatus, SendState, BatchState) for state in kind}
    others = {"active", "suspended", "frozen", "closed", "approved", "pending", "ready", "probing"}
    others |= {"disabled", "deleted", "delivered", "failed"}  # of webhooks and their deliveries
    others |= {"receiving", "running"}  # of imports
    named = re.findall(r"\bstate (?:=|<>) '(\w+)'", sql())
    for group in re.findall(r"\bstate (?:NOT )?IN \(([^)]*)\)", sql()):
        named += re.findall(r"'(\w+)'", group)
    assert len(named) > 20
    assert set(named) <= states | others


def test_open_sends_are_those_that_have_not_ended() -> None:
    assert set(SendState) - OPEN_SENDS == {SendState.COMPLETED, SendState.CANCELED}


def test_every_category_has_a_lane_and_earlier_lanes_weigh_more() -> None:
    assert set(LANES) == set(Category)
    assert LANES == (Category.AUTHENTICATION, Category.TRANSACTIONAL, Category.MARKETING)
    assert len(LANES) == len(LANE_WEIGHTS)
    assert list(LANE_WEIGHTS) == sorted(LANE_WEIGHTS, reverse=True)
    assert min(LANE_WEIGHTS) == 1, "no lane is starved"
