"""Receipts and messages from phones, delivered until they are answered."""

import pytest
from sqlalchemy import text

from api.smpp import deliveries
from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.smpp.constants import INTERMEDIATE, Command, Status, Tag
from shared.inbound.kinds import Inbound
from shared.inbound.store import store
from tests.harness.house import wait_until
from tests.harness.service import Service
from tests.harness.smpp import SmppClient, SmppHouse, smpp_house

UNDELIVERED = "99901000000"
"""A phone of the simulated carrier that does not get its messages."""


def test_it_works(smpp: SmppHouse) -> None:
    client = smpp.bound()
    sent = client.submit(tlvs={Tag.USER_MESSAGE_REFERENCE: b"\1\2"})
    smpp.service.deliver_receipts()
    message = client.delivery().message
    assert message.esm_class == 4
    assert message.tlvs[Tag.RECEIPTED_MESSAGE_ID] == sent.message_id.encode() + b"\0"
    assert (message.tlvs[Tag.MESSAGE_STATE], message.tlvs[Tag.USER_MESSAGE_REFERENCE]) == (b"\2", b"\1\2")


def test_an_undelivered_message_names_its_error(smpp: SmppHouse) -> None:
    client = smpp.bound()
    client.submit(UNDELIVERED)
    smpp.service.deliver_receipts()
    delivery = client.delivery()
    number = list(CATALOGUE).index("absent_subscriber") + 1
    assert (delivery.receipt["stat"], delivery.receipt["err"]) == ("UNDELIV", f"{number:03d}")
    assert delivery.message.tlvs[Tag.NETWORK_ERROR_CODE] == b"\3\0" + bytes((number,))


def test_numbers_of_errors_never_change() -> None:
    """Customers have them in their code: a new code goes to the end of the catalogue."""
    assert list(CATALOGUE).index("invalid_recipient") == 0
    assert list(CATALOGUE).index("not_sent") == 28


@pytest.mark.parametrize(
    ("registered", "wanted"),
    [
        (0, []),
        (1, ["DELIVRD", "UNDELIV"]),
        (2, ["UNDELIV"]),
        (3, ["DELIVRD"]),
        (0x11, ["ENROUTE", "ENROUTE", "DELIVRD", "UNDELIV"]),
    ],
)
def test_only_what_was_asked_for_is_delivered(smpp: SmppHouse, registered: int, wanted: list[str]) -> None:
    client = smpp.bound()
    client.submit(registered_delivery=registered)
    client.submit(UNDELIVERED, registered_delivery=registered)
    smpp.service.deliver_receipts()
    client.submit(text=b"The last", registered_delivery=1)
    smpp.service.deliver_receipts()
    received = [client.delivery() for _ in range(len(wanted) + 1)]
    assert sorted(each.receipt["stat"] for each in received) == sorted([*wanted, "DELIVRD"])
    enroute = [each for each in received if each.receipt["stat"] == "ENROUTE"]
    assert all(each.message.esm_class == INTERMEDIATE for each in enroute)


def test_what_came_over_http_has_no_receipt_here(smpp: SmppHouse) -> None:
    client = smpp.bound()
    smpp.service.send()
    other = smpp.bound(smpp.credential(system_id="other"))
    other.submit()
    sent = client.submit()
    smpp.service.deliver_receipts()
    assert client.delivery().receipt["id"] == sent.message_id
    assert other.delivery().receipt["id"] != sent.message_id


def test_receipts_wait_while_nobody_is_bound_and_come_again_until_answered(smpp: SmppHouse) -> None:
    made = smpp.credential()
    client = smpp.bound(made, Command.BIND_TRANSMITTER)
    ids = [client.submit().message_id for _ in range(3)]
    smpp.service.deliver_receipts()
    client.stop()
    first = smpp.bound(made, Command.BIND_RECEIVER)
    unanswered = [first.delivery(None).receipt["id"] for _ in range(3)]
    assert unanswered == ids, "in order"
    first.stop()
    second = smpp.bound(made)
    assert [second.delivery().receipt["id"] for _ in range(3)] == ids
    settle(smpp.service, made.system_id)
    second.submit(text=b"The last")
    smpp.service.deliver_receipts()
    assert second.delivery().receipt["id"] not in ids, "each once"


def test_what_cannot_be_taken_now_comes_again(smpp: SmppHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "PAUSE_SECONDS", 0.0)
    client = smpp.bound()
    sent = client.submit()
    smpp.service.deliver_receipts()
    assert client.delivery(Status.ESME_RMSGQFUL).receipt["id"] == sent.message_id
    assert client.delivery(Status.ESME_RX_R_APPN).receipt["id"] == sent.message_id
    client.submit(text=b"The second")
    smpp.service.deliver_receipts()
    second = client.delivery(None)
    assert second.receipt["id"] != sent.message_id, "a refusal for good ends it"
    client.send(Command.GENERIC_NACK, status=Status.ESME_RINVCMDID, sequence=second.sequence)
    client.submit(text=b"The last")
    smpp.service.deliver_receipts()
    assert client.delivery().receipt["id"] not in (sent.message_id, second.receipt["id"]), "and so does a generic_nack"


def test_no_more_than_a_window_is_unanswered(smpp: SmppHouse) -> None:
    client = smpp.bound(smpp.credential(window_size=2))
    for _ in range(5):
        client.submit()
    smpp.service.deliver_receipts()
    first, second = client.delivery(None), client.delivery(None)
    client.socket.settimeout(1)
    with pytest.raises(TimeoutError):
        client.read(Command.DELIVER_SM)
    client.socket.settimeout(60)
    for each in (first, second):
        client.send(Command.DELIVER_SM_RESP, b"\0", 0, each.sequence)
    assert {client.delivery().receipt["stat"] for _ in range(3)} == {"DELIVRD"}


def test_a_receipt_without_an_answer_holds_up_no_other(smpp: SmppHouse) -> None:
    made = smpp.credential()
    client = smpp.bound(made)
    first = client.submit().message_id
    smpp.service.deliver_receipts()
    assert client.delivery(None).receipt["id"] == first
    second = client.submit().message_id
    smpp.service.deliver_receipts()
    assert client.delivery().receipt["id"] == second
    client.stop()
    again = smpp.bound(made)
    assert [again.delivery().receipt["id"] for _ in range(2)] == [first, second], "both are behind the position"


def test_two_processes_share_the_receipts_of_a_credential(service: Service) -> None:
    with smpp_house(service) as one, smpp_house(service) as other:
        made = one.credential()
        clients: list[SmppClient] = [one.bound(made), other.bound(made)]
        ids = {clients[0].submit().message_id for _ in range(4)}
        service.deliver_receipts()
        received: set[str] = set()
        for client in clients:
            client.socket.settimeout(2)
            try:
                while len(received) < len(ids):
                    got = client.delivery().receipt["id"]
                    assert got not in received
                    received.add(got)
            except TimeoutError:
                pass
        assert received == ids


def test_a_message_from_a_phone(smpp: SmppHouse) -> None:
    client, service = smpp.bound(), smpp.service
    number = service.approve(service.account_id, f"2548{service.account_id:08d}")
    for content in ("Hello €", "Привет", "x" * 300):
        service.transact(store, "simulator", [Inbound("254711000000", number, content)])
        message = client.delivery().message
        assert (message.source, message.destination, message.esm_class) == ("254711000000", number, 0)
        expected = content.encode("utf-16-be") if message.data_coding == 8 else content.replace("€", "\x1be").encode()
        assert message.short_message == expected
    service.transact(store, "simulator", [Inbound("254711000000", number, "я" * 40_000)])
    assert client.delivery().message.short_message == ("я" * 32_000).encode("utf-16-be")


def settle(service: Service, system_id: str) -> None:
    """Wait until the position of the credential is recorded: its lease has ended."""
    ended = text("SELECT lease_until <= clock_timestamp() FROM smpp_credential WHERE system_id = :system_id")
    with service.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        wait_until(lambda: connection.execute(ended, {"system_id": system_id}).scalar(), 60, "the end of the lease")
