"""An open erasure keeps messages from a phone without being an opt-out, and without taking the place of one."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.harness.service import Service
from tests.integration.privacy.test_privacy import OTHER, PERSON, erase, receive, where, work
from worker.jobs.erasure import erase_one


def ask(service: Service) -> None:
    assert service.post("/erasures", phone=PERSON).json["status"] == "pending"


def by_request(service: Service) -> None:
    assert service.post("/suppressions", phones=[PERSON]).json["counts"]["added"] == 1


def by_request_with_reason(service: Service) -> None:
    assert service.post("/suppressions", phones=[PERSON], reason="erasure").json["counts"]["added"] == 1


def by_stop(service: Service) -> None:
    receive(service, PERSON, "STOP")


WAYS = [by_request, by_request_with_reason, by_stop]


def completed(service: Service) -> None:
    """Let the worker complete the erasures, as if a minute had passed."""
    service.execute("UPDATE erasure SET due_at = now()")
    service.execute("UPDATE suppression SET created_at = created_at - interval '1 minute'")
    work(service)
    assert {row["status"] for row in service.get("/erasures").json["data"]} == {"completed"}
    assert where(service.engine, PERSON) == set()


def refused(service: Service, **options: Any) -> bool:
    response = service.send(PERSON, **options)
    return (response.status_code, response.json.get("code")) == (403, "recipient_suppressed")


@pytest.mark.parametrize("opt_out", WAYS)
def test_an_opt_out_made_before_stays(alone: Service, opt_out: Callable[[Service], None]) -> None:
    opt_out(alone)
    ask(alone)
    completed(alone)
    assert refused(alone)


def test_a_possible_stop_made_meanwhile_keeps_marketing_away(alone: Service) -> None:
    ask(alone)
    receive(alone, PERSON, "I said STOP")
    completed(alone)
    assert refused(alone, category="marketing")
    assert not refused(alone)


@pytest.mark.parametrize("opt_out", WAYS)
def test_an_opt_out_made_meanwhile_stays(alone: Service, opt_out: Callable[[Service], None]) -> None:
    ask(alone)
    opt_out(alone)
    completed(alone)
    assert refused(alone)


def test_a_start_undoes_no_opt_out_that_was_added_between_two_erasures(alone: Service) -> None:
    by_stop(alone)
    assert erase(alone)["status"] == "completed"
    by_request(alone)
    assert erase(alone)["status"] == "completed"
    receive(alone, PERSON, "START")
    assert refused(alone)


@pytest.mark.parametrize(("sender", "kept_from"), [("ACME", True), ("ELSE", False)])
def test_an_opt_out_from_one_sender_id_keeps_its_scope(alone: Service, sender: str, kept_from: bool) -> None:
    ask(alone)
    assert alone.post("/suppressions", phones=[PERSON], sender_id=sender).json["counts"]["added"] == 1
    completed(alone)
    assert refused(alone) is kept_from


def test_an_open_erasure_is_not_listed_as_an_opt_out_and_cannot_be_removed(alone: Service) -> None:
    ask(alone)
    assert alone.get(f"/suppressions?phone={PERSON}").json["data"] == []
    assert alone.delete(f"/suppressions/{PERSON}").json["code"] == "suppression_not_found"
    by_request(alone)
    assert alone.delete(f"/suppressions/{PERSON}").json["removed"] == 1
    receive(alone, PERSON, "START")
    assert refused(alone)
    assert alone.bulk([OTHER, PERSON]).json["counts"]["suppressed"] == 1
    group = alone.post("/sms/send-group", sender_id="ACME", group_id=alone.new_group([PERSON, OTHER]), message="Hi")
    assert alone.counts(group.json["send_id"])["suppressed"] == 1


def test_another_account_may_send_meanwhile(alone: Service) -> None:
    ask(alone)
    other = alone.new_token(alone.new_account("other"))
    sent = alone.post("/sms/send", token=other, sender_id="ACME", phone=PERSON, message="Hi")
    bulk = alone.post("/sms/send-bulk", token=other, sender_id="ACME", phones=[PERSON], message="Hi")
    assert (sent.status_code, bulk.status_code) == (200, 200)
    assert alone.post("/erasures", token=other, phone=OTHER).status_code == 200
    sent = alone.post("/sms/send", token=other, sender_id="ACME", phone=PERSON, message="Hi")
    assert sent.status_code == 200
    assert alone.submitted()[PERSON] == 3


def test_another_accounts_opt_out_stays_as_it_is(alone: Service) -> None:
    other = alone.new_token(alone.new_account("other"))
    assert alone.post("/suppressions", token=other, phones=[PERSON]).status_code == 200
    by_request(alone)
    assert erase(alone)["status"] == "completed"
    assert [row["phone"] for row in alone.get("/suppressions", token=other).json["data"]] == [PERSON]
    assert refused(alone)


def test_the_last_of_several_erasures_of_a_phone_removes_it(alone: Service) -> None:
    ask(alone)
    ask(alone)
    by_request(alone)
    alone.execute("UPDATE erasure SET created_at = created_at - interval '1 minute', due_at = now()")
    erase_one(alone.engine)
    assert [row["phone"] for row in alone.get("/suppressions").json["data"]] == [PERSON]
    completed(alone)
    assert refused(alone)
    assert erase(alone)["status"] == "completed"
    assert refused(alone)
