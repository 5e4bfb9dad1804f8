"""Who may bind, and what a session may do."""

import random
import time
from dataclasses import replace

import pytest
import smpplib.client
import smpplib.consts
from sqlalchemy import text

from api.smpp import server
from shared.accounts import smpp_credentials as credentials
from shared.accounts.smpp_credentials import NewCredential
from shared.api_key import hash_secret
from shared.carriers.smpp import server_connection
from shared.carriers.smpp.constants import RESPONSE, Command, Status
from shared.carriers.smpp.pdu import Bind, bind_body, c_string, pdu
from shared.health.secret_key import check_secret_key
from tests.harness.event_loop_client import event_loop
from tests.harness.house import wait_until
from tests.harness.service import SECRET_KEY, Service
from tests.harness.smpp import Closed, SmppClient, SmppHouse, smpp_house, submit_body

NOBODY = "00000000-0000-7000-8000-000000000001"


def test_it_works(smpp: SmppHouse) -> None:
    client = smpp.client()
    answer = client.bind(smpp.credential(), Command.BIND_TRANSMITTER)
    assert (answer.command, answer.status, answer.body) == (Command.BIND_TRANSMITTER_RESP, 0, b"bulksms\0")
    assert client.ask(Command.ENQUIRE_LINK).command == Command.ENQUIRE_LINK_RESP
    assert client.bind(smpp.credential(system_id="other")).status == Status.ESME_RALYBND
    assert client.ask(Command.UNBIND).status == Status.ESME_ROK
    with pytest.raises(Closed):
        client.read()


def test_only_wrong_credentials_are_a_wrong_password(smpp: SmppHouse) -> None:
    made = smpp.credential()
    assert smpp.client().bind(NewCredential(made.system_id, "wrong")).status == Status.ESME_RINVPASWD
    assert smpp.client().bind(NewCredential("nobody", made.password)).status == Status.ESME_RINVPASWD
    elsewhere = smpp.credential(system_id="elsewhere", networks=["192.0.2.0/24"])
    assert smpp.client().bind(elsewhere).status == Status.ESME_RBINDFAIL


def test_attempts_are_limited(smpp: SmppHouse, no_refill: None) -> None:
    made = smpp.credential()
    for _ in range(10):
        assert smpp.client().bind(NewCredential(made.system_id, "wrong")).status == Status.ESME_RINVPASWD
    assert smpp.client().bind(made).status == Status.ESME_RBINDFAIL


def test_who_was_right_before_is_not_locked_out_by_others(smpp: SmppHouse, no_refill: None) -> None:
    made = smpp.credential()
    smpp.bound(made).stop()
    for _ in range(20):
        smpp.client().bind(NewCredential(made.system_id, "wrong"))
    assert smpp.client().bind(NewCredential(made.system_id, "wrong")).status == Status.ESME_RBINDFAIL
    smpp.bound(made)


def test_binds_are_counted_and_may_come_back(smpp: SmppHouse) -> None:
    made = smpp.credential(max_binds=1)
    first = smpp.bound(made)
    assert smpp.client().bind(made).status == Status.ESME_RBINDFAIL
    first.stop()
    wait_until(lambda: smpp.client().bind(made).status == Status.ESME_ROK, 60, "a free bind")


def test_a_bind_lives_on_after_a_time_without_the_database(smpp: SmppHouse) -> None:
    made = smpp.credential()
    with smpp.service.engine.begin() as connection:
        credential = credentials.find_credential(connection, made.system_id)
        assert credential is not None
        ended, lives = (credentials.add_bind(connection, credential, "receiver", "127.0.0.1") for _ in range(2))
        assert ended and lives
        connection.execute(text("UPDATE smpp_bind SET alive_until = alive_until - interval '1 minute'"))
        credentials.drop_bind(connection, ended)
        assert credentials.renew_binds(connection, [ended, lives]) == {lives}


def test_a_rotated_or_revoked_credential_loses_its_binds(smpp: SmppHouse) -> None:
    made, engine = smpp.credential(), smpp.service.engine
    client = smpp.bound(made)
    with engine.begin() as connection:
        new = credentials.rotate_password(connection, credentials.find_own(connection, made.system_id), SECRET_KEY)
    unbind = client.read(Command.UNBIND)
    assert client.submit().status == Status.ESME_RSYSERR, "nothing is accepted any more"
    client.send(Command.UNBIND_RESP, sequence=unbind.sequence)
    assert smpp.client().bind(made).status == Status.ESME_RINVPASWD
    again = smpp.bound(new)
    with engine.begin() as connection:
        credentials.revoke_credential(connection, credentials.find_own(connection, made.system_id))
    assert again.read(Command.UNBIND)
    assert smpp.client().bind(new).status == Status.ESME_RINVPASWD


def test_an_earlier_secret_key_still_opens_and_is_replaced(service: Service) -> None:
    newer = "another-secret-key-of-enough-characters"
    service.serve(replace(service.settings, secret_key=newer, secret_key_fallbacks=(SECRET_KEY,)))
    with smpp_house(service) as smpp:
        made = smpp.credential()
        with service.engine.connect() as connection:
            assert "SMPP credential" in check_secret_key(connection, newer, ()).detail
        smpp.bound(made)
        with service.engine.connect() as connection:
            found = credentials.find_credential(connection, made.system_id)
        assert found is not None
        assert hash_secret(made.password, newer) == bytes(found.password_hash)


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (Command.SUBMIT_SM, Status.ESME_RINVBNDSTS),
        (Command.QUERY_SM, Status.ESME_RINVBNDSTS),
        (Command.UNBIND, Status.ESME_RINVBNDSTS),
        (0x07, Status.ESME_RINVCMDID),
        (0x21, Status.ESME_RINVCMDID),
        (Command.OUTBIND, Status.ESME_RINVCMDID),
        (0x999, Status.ESME_RINVCMDID),
    ],
)
def test_answers_without_a_bind(smpp: SmppHouse, command: int, status: Status) -> None:
    answer = smpp.client().ask(command, submit_body())
    assert answer.status == status
    assert answer.command == (Command.GENERIC_NACK if status == Status.ESME_RINVCMDID else command | RESPONSE)


def test_a_receiver_does_not_submit(smpp: SmppHouse) -> None:
    assert smpp.bound(command=Command.BIND_RECEIVER).submit().status == Status.ESME_RINVBNDSTS


@pytest.mark.parametrize("length", [0, 15, 65_537, 2**32 - 1])
def test_a_broken_length_ends_the_connection(smpp: SmppHouse, length: int) -> None:
    client = smpp.bound()
    client.socket.sendall(length.to_bytes(4, "big") + pdu(Command.ENQUIRE_LINK, 0, 7)[4:])
    nack = client.read()
    assert (nack.command, nack.status, nack.sequence) == (Command.GENERIC_NACK, Status.ESME_RINVCMDLEN, 7)
    with pytest.raises(Closed):
        client.read()


def test_a_broken_body_is_answered_and_the_session_goes_on(smpp: SmppHouse) -> None:
    client = smpp.bound()
    assert client.ask(Command.SUBMIT_SM, b"no end").status == Status.ESME_RINVCMDLEN
    assert client.ask(Command.SUBMIT_SM, submit_body() + b"\1\2\3").status == Status.ESME_RINVOPTPARSTREAM
    assert client.ask(Command.QUERY_SM, b"x").status == Status.ESME_RINVCMDLEN
    client.send(Command.DELIVER_SM_RESP, b"\0", sequence=4711)
    client.send(Command.ENQUIRE_LINK_RESP, sequence=0xFFFFFFFF)
    assert client.submit().status == Status.ESME_ROK


def test_what_comes_together_is_answered_in_turn(smpp: SmppHouse) -> None:
    client, made = smpp.client(), smpp.credential()
    bind = bind_body(Bind(made.system_id, made.password))
    together = [(Command.BIND_TRANSCEIVER, bind), (Command.BIND_TRANSMITTER, bind), (Command.SUBMIT_SM, submit_body())]
    client.socket.sendall(
        b"".join(
            pdu(command, 0, number, body) for number, (command, body) in enumerate([*together, (Command.UNBIND, b"")])
        )
    )
    answers = [client.read() for _ in range(4)]
    assert [(answer.sequence, answer.status) for answer in answers] == [
        (0, Status.ESME_ROK),
        (1, Status.ESME_RALYBND),
        (2, Status.ESME_ROK),
        (3, Status.ESME_ROK),
    ], "an unbind waits for the answers to what came before it"
    with pytest.raises(Closed):
        client.read()


def test_a_repeated_sequence_number_is_answered_each_time(smpp: SmppHouse) -> None:
    client = smpp.bound()
    for sequence in (7, 7, 0xFFFFFFFF):
        client.send(Command.SUBMIT_SM, submit_body(), sequence=sequence)
    answers = [client.read(Command.SUBMIT_SM_RESP) for _ in range(3)]
    assert sorted(answer.sequence for answer in answers) == [7, 7, 0xFFFFFFFF]
    assert len({answer.message_id for answer in answers}) == 3


def test_no_bytes_break_the_server(smpp: SmppHouse) -> None:
    """Spoiled PDUs, a bounded number of them: each session is answered or ended, and the next one works."""
    chance, credential = random.Random(40), smpp.credential(max_binds=50, window_size=1_000)
    whole = [pdu(command, 0, 9, submit_body()) for command in (4, 0x103, 3, 8, 9, 0x15, 6, 5, 0x80000005)]
    for _ in range(40):
        client = smpp.bound(credential)
        spoiled = bytearray(b"".join(chance.choices(whole, k=5)))
        for _ in range(chance.randrange(1, 8)):
            spoiled[chance.randrange(len(spoiled))] = chance.randrange(256)
        client.socket.sendall(bytes(spoiled))
        client.stop()
    assert smpp.bound(smpp.credential(system_id="after")).submit().status == Status.ESME_ROK


def test_a_bind_must_come_soon(smpp: SmppHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_connection, "BIND_SECONDS", 0.0)
    with pytest.raises(Closed):
        smpp.client().read()


def test_strangers_take_nobodys_place(smpp: SmppHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_SESSIONS", 3)
    bound, *strangers = smpp.bound(), smpp.client(), smpp.client()
    other = smpp.bound()
    with pytest.raises(Closed):
        strangers[0].read()
    for client in (bound, strangers[1], other):
        assert client.ask(Command.ENQUIRE_LINK).status == Status.ESME_ROK
    smpp.bound()
    with pytest.raises(Closed):
        smpp.client().read()  # all others are bound


def test_who_sends_without_an_end_waits(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work does not count: submits are answered as ever."""
    monkeypatch.setattr(server_connection, "CHEAP", 5)
    monkeypatch.setattr(server_connection, "CHEAP_SECONDS", 3600.0)
    with smpp_house(service) as smpp:
        client = smpp.bound()
        assert [client.submit().status for _ in range(10)] == [Status.ESME_ROK] * 10
        sent = [client.send(Command.ENQUIRE_LINK) for _ in range(6)]
        assert [client.read().sequence for _ in range(5)] == sent[:5]
        client.socket.settimeout(1)
        with pytest.raises(TimeoutError):
            client.read()
        client.socket.settimeout(60)
        [waiting] = smpp.server._sessions
        event_loop().call_soon_threadsafe(waiting._go_on)
        assert client.read().sequence == sent[5]


def test_who_says_nothing_is_asked_and_without_an_answer_ends(smpp: SmppHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_connection, "IDLE_SECONDS", 0.0)
    client = smpp.bound()
    assert client.read(Command.ENQUIRE_LINK).status == 0
    monkeypatch.setattr(server_connection, "ANSWER_SECONDS", 0.0)
    client.socket.sendall(b"\0\0\0\x20\0")
    with pytest.raises(Closed):
        client.read()  # the beginning of a PDU is no answer


def test_who_never_reads_is_closed(smpp: SmppHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_connection, "WRITE_SECONDS", 0.0)
    monkeypatch.setattr(server_connection, "CHEAP", 1_000_000_000)
    client = smpp.bound()
    client.socket.setblocking(False)
    deadline = time.monotonic() + 60
    with pytest.raises((ConnectionError, BrokenPipeError)):
        while time.monotonic() < deadline:
            try:
                client.socket.send(pdu(Command.ENQUIRE_LINK, 0, 1) * 1000)
            except BlockingIOError:
                time.sleep(0.05)


def test_an_address_has_a_hundred_connections(smpp: SmppHouse) -> None:
    clients = [smpp.client() for _ in range(100)]
    assert clients[-1].ask(Command.ENQUIRE_LINK).status == Status.ESME_ROK
    assert not answers(smpp.client())
    clients[0].stop()
    wait_until(lambda: answers(smpp.client()), 60, "a connection")


def answers(client: SmppClient) -> bool:
    """Whether the connection may stay."""
    try:
        return client.ask(Command.ENQUIRE_LINK).status == Status.ESME_ROK
    except (Closed, ConnectionError):
        return False


def test_one_account_sees_nothing_of_another(smpp: SmppHouse) -> None:
    client = smpp.bound()
    message_id = client.submit(schedule="000000010000000R").message_id
    other = smpp.bound(smpp.credential(smpp.service.new_account("other")))
    query, cancel = named(message_id), b"\0" + named(message_id) + b"\0\0\0"
    assert other.ask(Command.QUERY_SM, query).status == Status.ESME_RQUERYFAIL
    assert other.ask(Command.CANCEL_SM, cancel).status == Status.ESME_RCANCELFAIL
    assert client.ask(Command.QUERY_SM, query).body == c_string(message_id) + b"\0" + bytes((1, 0))
    assert client.ask(Command.CANCEL_SM, cancel).status == Status.ESME_ROK
    assert client.ask(Command.CANCEL_SM, cancel).status == Status.ESME_ROK, "it is canceled"
    canceled = client.ask(Command.QUERY_SM, query).body
    assert canceled[-2] == 4
    assert smpp.service.get("/balance").json["balance"] == 1000
    for wrong in (NOBODY, "no id", ""):
        assert client.ask(Command.QUERY_SM, named(wrong)).status == Status.ESME_RQUERYFAIL


def named(message_id: str, source: str = "ACME") -> bytes:
    """What a query_sm has: an id and a source address."""
    return c_string(message_id) + b"\5\0" + c_string(source)


def test_a_query_and_a_cancellation_are_of_the_source_address(smpp: SmppHouse) -> None:
    client = smpp.bound()
    message_id = client.submit(schedule="000000010000000R").message_id
    assert client.ask(Command.QUERY_SM, named(message_id, "OTHER")).status == Status.ESME_RQUERYFAIL
    assert client.ask(Command.CANCEL_SM, cancellation(message_id, "OTHER")).status == Status.ESME_RCANCELFAIL
    assert client.ask(Command.QUERY_SM, named(message_id, "")).body[-2] == 1
    assert client.ask(Command.CANCEL_SM, cancellation(message_id, "")).status == Status.ESME_ROK


def cancellation(message_id: str = "", source: str = "ACME", phone: str = "") -> bytes:
    """The body of a cancel_sm."""
    return b"\0" + named(message_id, source) + b"\1\1" + c_string(phone)


def test_without_an_id_all_between_two_addresses_are_canceled(smpp: SmppHouse) -> None:
    later, client = "000000010000000R", smpp.bound()
    other = smpp.bound(smpp.credential(system_id="another"))
    gone = client.submit().message_id
    wanted = [client.submit(schedule=later).message_id for _ in range(2)]
    kept = [client.submit("254722000000", schedule=later).message_id, other.submit(schedule=later).message_id]
    body = cancellation(phone="254711000000")
    assert client.ask(Command.CANCEL_SM, cancellation(source="OTHER", phone="254711000000")).status != 0
    assert client.ask(Command.CANCEL_SM, cancellation()).status == Status.ESME_RCANCELFAIL
    assert client.ask(Command.CANCEL_SM, body).status == Status.ESME_ROK
    assert client.ask(Command.CANCEL_SM, body).status == Status.ESME_RCANCELFAIL, "none is left"
    states = [client.ask(Command.QUERY_SM, named(each)).body[-2] for each in (gone, *wanted, *kept)]
    assert states == [1, 4, 4, 1, 1]
    stranger = smpp.bound(smpp.credential(smpp.service.new_account("stranger"), system_id="stranger"))
    assert stranger.ask(Command.CANCEL_SM, cancellation(phone="254722000000")).status == Status.ESME_RCANCELFAIL


def test_a_stopped_server_unbinds(service: Service) -> None:
    with smpp_house(service) as smpp:
        client = smpp.bound()
        ending = smpp.stopping()
        asked = client.read(Command.UNBIND)
        twice = pdu(Command.ENQUIRE_LINK, 0, 1) + pdu(Command.ENQUIRE_LINK, 0, 2)
        for sequence, octets in ((1, twice[:20]), (2, twice[20:])):
            client.socket.sendall(octets)
            assert client.read(Command.ENQUIRE_LINK_RESP, sequence), "what comes in pieces is still read"
        client.send(Command.UNBIND_RESP, sequence=asked.sequence)
        ending.result(60)
        with pytest.raises(Closed):
            client.read()


def test_a_foreign_client(smpp: SmppHouse) -> None:
    made, received = smpp.credential(), list[str]()
    client = smpplib.client.Client("127.0.0.1", smpp.port, allow_unknown_opt_params=True, timeout=60)
    client.set_message_received_handler(lambda pdu: received.append(pdu.receipted_message_id.decode()))
    ids: list[str] = []
    client.set_message_sent_handler(lambda pdu: ids.append(pdu.message_id.decode()))
    client.connect()
    client.bind_transceiver(system_id=made.system_id, password=made.password)
    client.send_message(
        source_addr_ton=smpplib.consts.SMPP_TON_ALNUM,
        source_addr="ACME",
        dest_addr_ton=smpplib.consts.SMPP_TON_INTL,
        destination_addr="254711000000",
        short_message=b"Hi",
        registered_delivery=True,
    )
    client.read_once()
    smpp.service.deliver_receipts()
    client.read_once()
    assert [each.rstrip("\0") for each in received] == ids
    client.unbind()
    client.disconnect()
