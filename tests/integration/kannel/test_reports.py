"""Reports to a dlr-url: a GET of the URL, with its escapes filled, for the statuses that the mask asks for."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.harness.deliveries import deliver
from tests.harness.receiver import Receiver, receiver
from tests.harness.service import Service
from tests.integration.kannel.conftest import KannelUser
from tests.integration.loopback import local_receiver, loopback_service

service = loopback_service
there = local_receiver


def reported(there: Receiver) -> list[dict[str, str]]:
    """The queries of what was got, in order."""
    assert all(post.body == b"" and "content-type" not in post.headers for post in there.posts)
    return [{key: value for key, [value] in parse_qs(urlsplit(post.path).query).items()} for post in there.posts]


def finish(service: Service) -> None:
    """Let the carrier report, and the webhooks' process too."""
    service.deliver_receipts()
    deliver(service)


@pytest.mark.parametrize(("mask", "statuses"), [(31, ["8", "1"]), (27, ["8", "1"]), (1, ["1"]), (8, ["8"]), (18, [])])
def test_it_works(kannel: KannelUser, there: Receiver, mask: int, statuses: list[str]) -> None:
    assert kannel.get(dlr_mask=str(mask), dlr_url=f"{there.url}?id=7&status=%d").status_code == 202
    finish(kannel.service)
    assert sorted(reported(there), key=str) == sorted([{"id": "7", "status": each} for each in statuses], key=str)


def test_the_escapes(kannel: KannelUser, there: Receiver) -> None:
    letters = "dpPqQaAbIFtToin"
    url = f"{there.url}?" + "&".join(f"x{letter}=%{letter}" for letter in letters) + "&z=%%20&c=%%C3%%A9&%K=1"
    assert kannel.get(dlr_mask="1", dlr_url=url, account="order 7").status_code == 202
    message_id = kannel.service.get("/messages").json["data"][0]["message_id"]
    finish(kannel.service)
    [query] = reported(there)
    assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d", query.pop("xt"))
    assert query.pop("xT").isdigit()
    assert query == {
        "xd": "1",
        **dict.fromkeys(("xp", "xq"), "254711000000"),
        **dict.fromkeys(("xP", "xQ"), "ACME"),
        **dict.fromkeys(("xa", "xA", "xb"), "stat:DELIVRD err:000"),
        **dict.fromkeys(("xI", "xF"), message_id),
        "xo": "order 7",
        "z": " ",
        "c": "é",
        "%K": "1",
    }


@pytest.mark.parametrize("mask", ["16", "2", "3"])
def test_what_no_carrier_took_is_rejected_with_its_reason(kannel: KannelUser, there: Receiver, mask: str) -> None:
    """Kannel reports it for bit 2, too: `DLR_IS_SMSC_FAIL(mask) || DLR_IS_FAIL(mask)` (bb_smscconn.c)."""
    kannel.get(dlr_mask=mask, dlr_url=f"{there.url}?s=%d&why=%A", deferred="60")
    [send] = kannel.service.get("/sends").json["data"]
    assert kannel.service.post(f"/sends/{send['send_id']}/cancel").status_code == 200
    kannel.service.sweep()
    deliver(kannel.service)
    assert reported(there) == [{"s": "16", "why": "NACK/canceled"}]


def test_other_sends_and_webhooks_get_their_events_as_ever(kannel: KannelUser, there: Receiver) -> None:
    service = kannel.service
    with receiver() as hook:
        service.post("/webhooks", url=hook.url)
        kannel.get(dlr_mask="1", dlr_url=f"{there.url}?s=%d")
        finish(service)
        assert {post.payload["type"] for post in hook.posts} >= {"message.sent", "message.delivered"}
    assert reported(there) == [{"s": "1"}]
    there.posts.clear()
    service.send(callback_url=there.url)
    finish(service)
    assert {post.payload["data"]["phone"] for post in there.posts if "phone" in post.payload["data"]} == {
        "254711000000"
    }


def test_a_failed_report_is_tried_again_and_shows_no_phone(kannel: KannelUser) -> None:
    answers = iter((500, 204))
    with receiver(lambda post: next(answers)) as there:
        kannel.get(dlr_mask="1", dlr_url=f"{there.url}?s=%d&p=%p")
        finish(kannel.service)
        kannel.service.execute("UPDATE delivery SET next_at = now() WHERE state = 'pending'")
        deliver(kannel.service)
        assert reported(there) == [{"s": "1", "p": "254711000000"}] * 2
        [url] = kannel.service.scalars("SELECT url FROM delivery WHERE url LIKE :url", url=f"{there.url}%")
    assert url == f"{there.url}?s=%d&p=%p"


def test_a_host_that_fails_is_left_alone_although_each_url_has_another_id(kannel: KannelUser) -> None:
    with receiver(lambda post: 500) as there:
        for _ in range(20):
            kannel.get(dlr_mask="1", dlr_url=f"{there.url}?id=%I")
        finish(kannel.service)
        assert 3 <= len(there.posts) < 10
