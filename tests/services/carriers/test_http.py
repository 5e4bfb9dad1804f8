"""The http driver over real connections: what may have left is in doubt, what certainly did not is not."""

import logging
import sys
import threading
from functools import partial

import pytest

from bulksms.local.ports import free_port
from tests.harness.house import wait_until
from tests.harness.http_carrier import PATIENCE, Reply, Request, http_peer, json_reply
from tests.harness.response_timeout import Clock
from tests.services.carriers.http_pair import PHONE, carrier, declared, one, pair
from tests.unit.carriers.smpp.making import KeptInbox, message_group
from worker.carriers.base import Outcome, Receipt, ResponseKind, unsubmitted
from worker.carriers.http import HttpCarrier


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("worker.carriers.http.driver.time", made)
    return made


def test_connections_are_kept_and_requests_go_at_the_same_time() -> None:
    together = threading.Barrier(5)

    def respond(request: Request) -> Reply:
        together.wait(PATIENCE)
        return json_reply({"id": "x"})

    with pair(respond, window=5) as (peer, made):
        for _ in range(4):
            assert {each.response for each in made.submit([message_group("x", [PHONE] * 5)])} == {ResponseKind.ACCEPTED}
        assert (len(peer.requests), peer.connections) == (20, 5)


def test_threads_that_interrupt_each_other_mix_no_requests(request: pytest.FixtureRequest) -> None:
    request.addfinalizer(partial(sys.setswitchinterval, sys.getswitchinterval()))
    sys.setswitchinterval(1e-5)
    phones = [f"2547110{number:05}" for number in range(200)]
    with pair(lambda request: json_reply({"id": request.json["to"]})) as (peer, made):
        outcomes = made.submit([message_group("x", phones)])
        assert [each.reference for each in outcomes] == phones
        assert sorted(each.json["to"] for each in peer.requests) == phones


@pytest.mark.parametrize(
    ("reply", "response", "error"),
    [
        (Reply(body=b'{"id": "m'), ResponseKind.IN_DOUBT, "unreadable_answer"),
        (Reply(body=b""), ResponseKind.IN_DOUBT, "unreadable_answer"),
        (Reply(body=b"[" * 100_000), ResponseKind.IN_DOUBT, "unreadable_answer"),
        (json_reply({"sid": "elsewhere"}), ResponseKind.IN_DOUBT, "unreadable_answer"),
        (json_reply({}, 500), ResponseKind.IN_DOUBT, "http_500"),
        (json_reply({}, 503), ResponseKind.IN_DOUBT, "http_503"),
        (json_reply({}, 204), ResponseKind.IN_DOUBT, "http_204"),
        (json_reply({}, 408), ResponseKind.IN_DOUBT, "http_408"),
        (json_reply({"code": 21211}, 400), ResponseKind.REJECTED, "21211"),
        (json_reply({"code": "a sentence <b>with</b> spaces"}, 404), ResponseKind.REJECTED, "asentencebwithbspaces"),
        (json_reply({}, 429), ResponseKind.THROTTLED, "http_429"),
        (json_reply({}, 307, Location="http://127.0.0.1:1/"), ResponseKind.FAILED, "http_307"),
        (json_reply({}, 302, Location="http://127.0.0.1:1/"), ResponseKind.IN_DOUBT, "http_302"),
        (Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"), ResponseKind.IN_DOUBT, "no_response"),
        (Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", cut=True), ResponseKind.IN_DOUBT, "no_response"),
        (Reply(raw=b"", cut=True), ResponseKind.IN_DOUBT, "no_response"),
        (Reply(raw=b"\xff\xfe garbage\r\n\r\n"), ResponseKind.IN_DOUBT, "no_response"),
        (Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}"), ResponseKind.IN_DOUBT, "no_response"),
        (Reply(body=b" " * 1_100_000), ResponseKind.IN_DOUBT, "no_response"),
    ],
)
def test_each_response_gives_its_outcome(reply: Reply, response: ResponseKind, error: str) -> None:
    with pair(lambda request: reply) as (peer, made):
        assert one(made) == Outcome(response, error=error)
        assert len(peer.requests) == 1, "requested once, and no redirection is followed"


def test_a_message_that_never_left_is_not_in_doubt() -> None:
    with carrier(declared(f"http://127.0.0.1:{free_port()}/")) as made:
        assert one(made) == unsubmitted("not_connected")
        assert made.health.state == "connecting"
    with carrier(declared("http://no-such-host.invalid/")) as made:
        assert one(made) == unsubmitted("not_connected")


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_heeded_without_asking_again(status: int, clock: Clock) -> None:
    with pair(lambda request: json_reply({}, status, Retry_After="5")) as (peer, made):
        assert (outcome := one(made)).response == ResponseKind.THROTTLED and not outcome.is_unsubmitted
        assert one(made) == unsubmitted("paused")
        assert len(peer.requests) == 1
        clock.now += 4.9
        assert one(made) == unsubmitted("paused")
        clock.now += 0.2
        assert one(made).error != "paused"
        assert len(peer.requests) == 2


@pytest.mark.parametrize("status", [401, 403])
def test_refused_credentials_suspend_the_carrier_and_burn_no_message(status: int) -> None:
    with pair(lambda request: json_reply({"code": 20003}, status)) as (peer, made):
        assert one(made) == Outcome(ResponseKind.THROTTLED, error="20003")
        assert made.health.state == "suspended"
        assert [one(made) for _ in range(3)] == [unsubmitted("20003")] * 3
        assert len(peer.requests) == 1


@pytest.mark.parametrize(("basic", "bearer"), [(["{user}", "p:w"], None), (None, "{user}")])
def test_credentials(basic: list[str] | None, bearer: str | None) -> None:
    with http_peer(lambda request: json_reply({"id": "x"})) as peer:
        request = {"url": peer.url("/{user}?to={phone}&text={text}"), "method": "GET"}
        request |= {"basic": basic} if basic else {"bearer": bearer}
        with carrier(declared("", request=request, values={"user": "me"})) as made:
            assert one(made, "a&b=ü#?").response == ResponseKind.ACCEPTED
    assert peer.requests[0].headers["authorization"] == ("Basic bWU6cDp3" if basic else "Bearer me")
    assert peer.requests[0].path == f"/me?to={PHONE}&text=a%26b%3D%C3%BC%23%3F"


def test_several_messages_in_one_request_each_get_their_own_response() -> None:
    def respond(request: Request) -> Reply:
        states = ["ok", "busy", "no", "what", None]
        made = [{"to": "+" + to, "id": f"m{n}", "state": states[n % 5]} for n, to in enumerate(request.json["to"])]
        return json_reply({"all": [each for each in reversed(made) if each["state"]]})

    request = {"json": {"to": "{phones}", "text": "{text}"}, "batch": 5}
    codes = {"ok": "accepted", "busy": "throttled", "no": "rejected"}
    reply = {"each": "all", "phone": "to", "id": "id", "code": "state", "codes": codes}
    with http_peer(respond) as peer:
        with carrier(declared("", request={"url": peer.url("/"), **request}, response=reply)) as made:
            phones = [str(int(PHONE) + number) for number in range(7)]
            outcomes = made.submit([message_group("x", phones)])
        assert len(peer.requests) == 2
    assert [(each.response, each.reference, each.error) for each in outcomes[:5]] == [
        (ResponseKind.ACCEPTED, "m0", None),
        (ResponseKind.THROTTLED, None, "busy"),
        (ResponseKind.REJECTED, None, "no"),
        (ResponseKind.IN_DOUBT, None, "what"),
        (ResponseKind.IN_DOUBT, None, "unreadable_answer"),
    ]


def test_a_request_lost_in_the_middle_leaves_only_its_own_in_doubt() -> None:
    def respond(request: Request) -> Reply:
        return Reply(raw=b"", cut=True) if request.json["to"].endswith("1") else json_reply({"id": "x"})

    with pair(respond) as (_, made):
        outcomes = made.submit([message_group("x", [f"25471100000{number}" for number in range(3)])])
        assert [each.response for each in outcomes] == [
            ResponseKind.ACCEPTED,
            ResponseKind.IN_DOUBT,
            ResponseKind.ACCEPTED,
        ]


def test_receipts_are_fetched_again_until_they_are_stored() -> None:
    receipts: list[Receipt] = []
    fails = iter([True])

    def store(batch: list[Receipt]) -> None:
        if next(fails, False):
            raise OSError("the database is away")
        receipts.extend(batch)

    table = {
        "poll": {"url": "", "interval": 1.0, "headers": {"X-Key": "{key}"}},
        "values": {"key": "k"},
        "receipts": {"each": "reports", "id": "id", "status": "s", "statuses": {"DLV": "delivered"}, "phone": "to"},
    }
    with http_peer(
        lambda request: json_reply({"reports": [{"id": 7, "s": "DLV", "to": "+" + PHONE}, {"s": "DLV"}]})
    ) as peer:
        table["poll"]["url"] = peer.url("/reports")
        made = HttpCarrier(declared(peer.url("/"), **table))
        made.open(KeptInbox(store_receipts=store))
        try:
            wait_until(lambda: receipts, PATIENCE, "the receipts")
        finally:
            made.close()
    assert (receipts[0].reference, receipts[0].status, receipts[0].phone) == ("7", "delivered", PHONE)
    assert {each.headers["x-key"] for each in peer.requests} == {"k"}
    assert len(peer.requests) >= 2


def test_receipts_are_fetched_page_by_page_until_there_are_no_more(caplog: pytest.LogCaptureFixture) -> None:
    """Infobip hands each out once, 50 at a time by default. Others answer 204, or hand out the last ones again."""
    caplog.set_level(logging.WARNING)
    pages = [json_reply([{"id": str(page), "s": "DLV"}]) for page in (1, 2, 3, 3)] + [Reply(status=204)]
    receipts = {"each": "", "id": "id", "status": "s", "statuses": {"DLV": "delivered"}}
    with http_peer(lambda request: pages.pop(0)) as peer:
        config = declared(peer.url("/"), poll={"url": peer.url("/reports"), "interval": 60.0}, receipts=receipts)
        inbox = KeptInbox()
        made = HttpCarrier(config)
        made.open(inbox)
        try:
            made._poller._poll()
            assert ([each.reference for each in inbox.receipts], len(pages)) == (["1", "2", "3", "3"], 1)
            made._poller._poll()
        finally:
            made.close()
    assert (pages, caplog.messages) == ([], [])


def test_an_unanswered_poll_takes_no_connection_of_messages() -> None:
    go_on, polled = threading.Event(), threading.Event()

    def respond(request: Request) -> Reply:
        if request.method == "GET":
            polled.set()
            go_on.wait(PATIENCE)
        return json_reply({"id": "m"})

    receipts = {"id": "id", "status": "s", "statuses": {"DLV": "delivered"}}
    with http_peer(respond) as peer:
        poll = {"url": peer.url("/reports"), "interval": 1.0}
        with carrier(declared(peer.url("/"), window=1, poll=poll, receipts=receipts)) as made:
            assert polled.wait(PATIENCE)
            outcome = one(made)
            go_on.set()
    assert outcome == Outcome(ResponseKind.ACCEPTED, "m")


def test_no_text_or_phone_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with http_peer(lambda request: json_reply({"id": "x"}, 500)) as peer:
        request = {"url": peer.url("/?text={text}&to={phone}"), "method": "GET"}
        with carrier(declared("", request=request)) as made:
            one(made, "topsecret")
    assert "topsecret" not in caplog.text
    assert PHONE not in caplog.text
