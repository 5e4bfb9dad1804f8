"""What reads what others send, each with the errors that it may raise. Anything else is a finding."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import cycle
from unittest.mock import Mock

from bulksms.smsc.behavior import GARBAGE, Behavior
from bulksms.smsc.connection import Connection
from bulksms.smsc.delivery_queue import DeliveryQueue
from bulksms.smsc.records import Records
from bulksms.smsc.settings import SmscSettings
from shared.carriers.http import callbacks, paths
from shared.carriers.http.signatures import Call, is_authentic
from shared.carriers.smpp.constants import Command
from shared.carriers.smpp.pdu import Malformed, read_bind, read_message
from shared.inbound import keyword_of
from shared.inbound.store import storable
from tests.fuzz import corpus
from tests.fuzz.mutate import Mutator
from tests.unit.carriers.http.test_config import GIVEN, preset
from tests.unit.carriers.smpp.making import config, message_group
from worker.carriers.base import ResponseKind
from worker.carriers.http.responses import parse_response
from worker.carriers.smpp.counters import Counters
from worker.carriers.smpp.multipart import MultipartMessages
from worker.carriers.smpp.parts import References
from worker.carriers.smpp.receipt import inbound, is_receipt, read_receipt, usual_receipt
from worker.carriers.smpp.session import Lost, Session
from worker.carriers.smpp.submission import Submission
from worker.carriers.smpp.wire import Wire

NOW = datetime(2026, 5, 4, 12, 30, 15, tzinfo=UTC)
CONFIG = config(window=50)
WEB = {name: preset(name) for name in GIVEN}
PHONES = ["254711000000", "254711000001"]


@dataclass(frozen=True, slots=True)
class Target:
    """Feeds one reader; raises for what must not happen."""

    name: str
    seeds: list[bytes]
    feed: Callable[[bytes, Mutator], None]


class Silence(Wire):
    """A wire that swallows everything."""

    def __init__(self) -> None:
        """Without a connection."""

    def read(self) -> bytes | None:
        """Nothing comes."""
        return None

    def write(self, data: memoryview) -> int:
        """All of it leaves."""
        return len(data)

    def close(self) -> None:
        """Nothing is open."""


class Inbox:
    """Takes deliveries, and forgets them."""

    def put(self, session: Session, command: int, sequence: int, body: bytes) -> None:
        """A delivery."""

    def late(self, submission: Submission, index: int, response: object) -> None:
        """A late response."""


def framing(data: bytes, mutator: Mutator) -> None:
    """A session that waits for responses is fed in pieces. Each response is counted once, at most."""
    session = Session(Silence(), CONFIG, Inbox(), Counters(), MultipartMessages())
    submission = Submission(CONFIG, References(), [message_group("Hi", PHONES * 5)])
    window = session.windows.open(submission, range(10))
    assert window is not None
    session.windows.take(window, 0.0, 10)
    try:
        for piece in mutator.pieces(data):
            session.feed(piece)
    except Lost:
        pass
    assert window.missing == window.responses.count(None)
    assert len(session._rest) <= CONFIG.max_pdu + len(data)


def bodies(data: bytes, mutator: Mutator) -> None:
    """A delivery is read: as a receipt in both ways, which agree, or as a message."""
    usual = usual_receipt(CONFIG, data, NOW)
    for command in (Command.DELIVER_SM, Command.DATA_SM):
        try:
            message = read_message(command, data)
            assert "254711000000" not in repr(message)
            if is_receipt(message):
                receipt = read_receipt(CONFIG, message, NOW)
                assert command != Command.DELIVER_SM or usual is None or usual == receipt
            else:
                received = inbound(CONFIG, message)
                assert storable(received.text).encode().decode() is not None
                keyword_of(received.text)
        except Malformed as error:
            assert usual is None or command != Command.DELIVER_SM
            assert len(str(error)) < 60
    with contextlib.suppress(Malformed):
        read_bind(data)


def smsc(data: bytes, mutator: Mutator) -> None:
    """Our own simulated SMSC is fed in pieces."""
    settings = SmscSettings()
    server = Mock(
        settings=settings, records=Records(), behavior=Behavior(settings), garbage=cycle(GARBAGE), misbehaves=False
    )
    server.connections = set()
    server.next_id = lambda: "0000000001"
    server.delivery_queue = lambda system_id: DeliveryQueue(Mock(time=lambda: 0.0), 1.0, server.records.counts)
    connection = Connection(server)
    connection.transport = Mock(is_closing=lambda: False)
    for piece in mutator.pieces(data):
        if connection.is_closing:
            return
        connection.data_received(piece)


def replies(data: bytes, mutator: Mutator) -> None:
    """A response over HTTP: one outcome for each message, whatever it is."""
    for carrier in WEB.values():
        for status in (200, 201, 400, 429, 500):
            result = parse_response(carrier, status, False, data, PHONES)
            assert len(result.outcomes) == len(PHONES)
            assert all(each.error is None or len(each.error) <= 40 for each in result.outcomes)
            assert (
                status != 500
                or carrier.response.errors
                or all(each.response == ResponseKind.IN_DOUBT for each in result.outcomes)
            )


def called(data: bytes, mutator: Mutator) -> None:
    """A call over HTTP: never believed without its authentication, and read without a slip."""
    headers = {"authorization": data[:200].decode("latin-1"), "x-signature": data[:80].decode("latin-1")}
    for carrier in WEB.values():
        for kind in ("application/json", "application/x-www-form-urlencoded", ""):
            try:
                query = callbacks.fields_of(data[:300].decode("latin-1"))
                assert not is_authentic(carrier, Call("receipts", headers, query, query, data))
                document = callbacks.document_of(kind, query, data)
                callbacks.receipts_in(carrier, document, NOW)
                for message in callbacks.inbound_in(carrier, document)[0]:
                    storable(message.text)
            except callbacks.UnreadableCallback:
                pass
    paths.parse(data)


TARGETS = (
    Target("framing", corpus.stream(), framing),
    Target("bodies", corpus.deliveries(), bodies),
    Target("bodies again", corpus.deliveries(), bodies),
    Target("smsc", corpus.requests(), smsc),
    Target("replies", corpus.responses(), replies),
    Target("calls", corpus.calls(), called),
)
"""Each gets as many runs; bodies, which are most of what comes, twice."""
