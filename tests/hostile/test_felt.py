"""The problems of an attack that the victim felt, or that was none."""

import math
from collections import Counter
from dataclasses import replace

from tests.hostile.felt import Felt, problems, recovery
from tests.hostile.scenarios import BY_NAME
from tests.hostile.victim import Request

SEND = Request("send", 1.0, 0.01, 200, {})
FELT = Felt(
    BY_NAME["lists"],
    quiet=[SEND],
    during=[SEND, Request("page", 1.0, 0.1, 200, ""), Request("csv", 1.0, 0.1, 200, "")],
    after=[],
    delays=[0.2],
    webhook_delays=[0.4],
    memory=(100, 150, 110),
    did=Counter({"connections": 64, "200": 10, "429": 100}),
)


def test_an_attack_without_effect_has_no_problems() -> None:
    assert list(problems(FELT)) == []


def test_each_effect_of_an_attack_is_a_problem() -> None:
    others = [request for request in FELT.during if request.what != "csv"]
    for changed, expected in (
        ({"during": [*FELT.during, Request("send", 1.0, 1.0, 200, {})]}, "p99 of 1000 ms"),
        ({"during": [*FELT.during, Request("page", 1.0, 4.0, 200, "")]}, "a page of the console came after 4.0 s"),
        ({"during": [*others, Request("csv", 1.0, 4.0, 200, "")]}, "a request (csv) was answered after 4.0 s"),
        ({"after": [Request("bulk", 1.0, 0.1, 503, "")]}, "1 requests refused or lost"),
        ({"delays": []}, "1 messages were accepted, and 0 handed over"),
        ({"delays": [0.2, 0.2]}, "1 messages were accepted, and 2 handed over"),
        ({"delays": [1.5]}, "a message was handed over after 1.5 s"),
        ({"group_delays": [0.2, 1.5]}, "group sends were handed over after 0.2, 1.5 s"),
        ({"group_delays": [0.2, math.nan]}, "not all of 2 group sends were handed over"),
        ({"webhook_delays": []}, "1 messages were accepted, and the webhook was told of 0"),
        ({"webhook_delays": [4.0]}, "the webhook was told of a message after 4.0 s"),
        ({"memory": (100 << 20, 201 << 20, 110 << 20)}, "memory of 100 MB became 201"),
        ({"memory": (100 << 20, 150 << 20, 126 << 20), "grown": {"api": (0, 5 << 20)}}, "at the end: api 0 to 5"),
        ({"recovery": 6.0}, "slow for 6.0 s after the end"),
    ):
        assert any(expected in problem for problem in problems(replace(FELT, **changed))), expected


def test_an_attack_with_few_good_responses_does_not_count() -> None:
    for did in ({}, {"connections": 64}, {"connections": 64, "200": 1, "404": 9}, {"connections": 64, "401": 9}):
        assert any("no attack" in problem for problem in problems(replace(FELT, did=Counter(did)))), did


def test_an_attack_that_lacks_its_main_action_does_not_count() -> None:
    unheard = replace(FELT, scenario=BY_NAME["webhooks"], did=Counter({"connections": 64, "200": 10}))
    assert any("it lacks posts" in problem for problem in problems(unheard))


def test_recovery_lasts_until_the_last_refused_or_slow_request() -> None:
    end = 10.0
    slow, refused = Request("send", 10.5, 0.5, 200, {}), Request("bulk", 12.0, 0.1, 503, "")
    fast, export = Request("send", 19.0, 0.01, 200, {}), Request("csv", 18.0, 0.5, 200, "")
    assert recovery([SEND], [SEND, fast, export], end) == 0.0
    assert recovery([SEND], [slow, fast], end) == 1.0
    assert recovery([SEND], [slow, refused, fast], end) == 12.1 - end
