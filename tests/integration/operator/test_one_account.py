"""What an operator asks of one account shows and changes nothing of another."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text

from shared.inbound import Inbound, store
from tests.harness.operator import OperatorClient
from tests.harness.service import PREFIX, Service
from tests.harness.times import ahead

FINDING = text(
    """
    INSERT INTO pumping_finding (account_id, rule, prefix, phones, most, refused)
    VALUES (:account, 'block', '2547110', 20, 2, false)
    """
)
PHONE = "254711000000"
REASON = "a test"


class Two:
    """Two accounts that have one of everything each."""

    def __init__(self, service: Service, operator: OperatorClient) -> None:
        self.service, self.operator = service, operator
        self.one, self.other = service.account_id, service.new_account("other")
        self.token_of_other = service.new_token(self.other)
        for account, token in ((self.one, service.token), (self.other, self.token_of_other)):
            service.execute(FINDING, account=account)
            operator.post(f"/accounts/{account}/top-ups", credits=account * 10, reason=REASON)
            quiet = {"from": "21:00", "until": "08:00"}
            operator.patch(f"/accounts/{account}/rules/marketing", quiet_hours=quiet)
            self.send(token, send_at=ahead())

    def send(self, token: str, **more: Any) -> dict[str, Any]:
        """A send of one message."""
        body = {"sender_id": "ACME", "phone": PHONE, "message": "Hi", **more}
        response = self.service.post("/sms/send", token=token, **body)
        assert response.status_code == 200, response.text
        return dict(response.json)

    def listed(self, path: str) -> list[dict[str, Any]]:
        """A whole list."""
        rows: list[dict[str, Any]] = self.operator.get(path).json["data"]
        return rows


@pytest.fixture
def two(service: Service, operator: OperatorClient) -> Iterator[Two]:
    yield Two(service, operator)


@pytest.mark.parametrize("path", ["/changes", "/pumping-findings", "/sends", "/sender-ids"])
def test_a_list_of_an_account_has_only_its_own(two: Two, path: str) -> None:
    for account in (two.one, two.other):
        found = two.listed(f"{path}?account_id={account}")
        assert {each["account_id"] for each in found} == {account}


def test_keys_rules_and_top_ups_are_the_accounts_own(two: Two) -> None:
    for account in (two.one, two.other):
        credits = [each["credits"] for each in two.listed(f"/accounts/{account}/top-ups")]
        assert sorted(credits) == sorted([account * 10, 1000])
        assert len(two.listed(f"/accounts/{account}/api-keys")) == 1
        quiet = [each for each in two.listed(f"/accounts/{account}/rules") if each["category"] == "marketing"]
        assert len(quiet) == 1
    rule = f"/accounts/{two.one}/rules/marketing"
    assert two.operator.patch(rule, quiet_hours=None).status_code == 200
    assert [each["category"] for each in two.listed(f"/accounts/{two.other}/rules")].count("marketing") == 1


@pytest.mark.parametrize("kind", ["send", "message"])
def test_a_refund_is_refused_under_another_account(two: Two, kind: str) -> None:
    sent = two.send(two.service.token)
    before = [two.operator.get(f"/accounts/{account}").json["balance"] for account in (two.one, two.other)]
    path = f"/accounts/{{}}/{kind}s/{sent[f'{kind}_id']}/refund"
    assert two.operator.post(path.format(two.other), reason=REASON).status_code == 404
    after = [two.operator.get(f"/accounts/{account}").json["balance"] for account in (two.one, two.other)]
    assert after == before


def test_closing_an_account_does_not_affect_another(two: Two) -> None:
    (mine,) = two.listed(f"/sends?account_id={two.one}")
    cancel = two.service.post(f"/sends/{mine['send_id']}/cancel")
    assert cancel.status_code == 200
    assert two.operator.post(f"/accounts/{two.one}/close", reason=REASON).status_code == 200
    headers = {"Authorization": f"Bearer {two.token_of_other}"}
    assert two.service.client.get(f"{PREFIX}/balance", headers=headers).status_code == 200
    assert [each["status"] for each in two.listed(f"/sends?account_id={two.other}")] == ["scheduled"]


def test_messages_to_a_number_can_be_assigned_only_to_the_account_that_has_it(two: Two) -> None:
    number = f"2782{two.other:07}"
    two.service.transact(store, "main", [Inbound("254711222555", number, "Hello")])
    two.service.approve(two.other, number)
    refused = two.operator.post("/inbound/assign", sent_to=number, account_id=two.one)
    assert (refused.status_code, refused.json["code"]) == (409, "state_conflict")
    given = two.operator.post("/inbound/assign", sent_to=number, account_id=two.other)
    assert given.status_code == 200, given.text


def test_a_sender_id_is_requested_for_its_account_alone(two: Two) -> None:
    requested = {
        account: two.operator.post("/sender-ids", account_id=account, sender_id="SHOP", use_case="orders")
        for account in (two.one, two.other)
    }
    for account, response in requested.items():
        assert (response.status_code, response.json["account_id"]) == (200, account), response.text


def test_a_decision_on_a_sender_id_affects_only_its_own_account(two: Two) -> None:
    (mine,) = two.listed(f"/sender-ids?account_id={two.one}")
    assert two.operator.patch(f"/sender-ids/{mine['sender']}", authentication=True).status_code == 200
    assert two.operator.post(f"/sender-ids/{mine['sender']}/suspend", reason=REASON).status_code == 200
    for account, status, allowed, send in (
        (two.one, "suspended", True, "held"),
        (two.other, "approved", False, "scheduled"),
    ):
        (sender,) = two.listed(f"/sender-ids?account_id={account}")
        assert (sender["status"], sender["authentication"]) == (status, allowed)
        assert [each["status"] for each in two.listed(f"/sends?account_id={account}")] == [send]
