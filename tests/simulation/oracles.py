"""What must be true of a run: after every step of the database, and at its end of the database and the carriers."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from shared.accounts.sandbox import PLAY_CREDITS
from shared.audit.check import audit, rules_of
from shared.ids import message_id
from shared.lifecycle import CHARGED_STATUSES, MessageStatus
from tests.simulation.carrier import Breach, Handed, ModelCarrier, stronger
from tests.simulation.database import Database
from tests.simulation.traffic import CREDITS, Traffic

LIVENESS = ("leases", "doubts_end", "queue_moves")
"""True of a system whose sweeper is called each second, and so of a run only at its end."""
OFTEN = ("account_caches", "not_negative", "settled_once", "send_reserve", "batch_rows", "send_batches", "doubts")
ENDED = frozenset({"done", "canceled", "expired"})


def _statement(names: Iterable[str]) -> str:
    """The rules as one statement, which Postgres plans once in a session."""
    parts = []
    for rule in rules_of(full=True):
        if rule.name in names:
            sql = rule.sql.replace(":full", "true").replace("CAST(:since AS uuid)", f"'{UUID(int=0)}'::uuid")
            sql = sql.replace(":span", "'1 day'")
            parts.append(f"SELECT '{rule.name}' AS rule, subject, detail FROM ({sql}) AS breach")
    return " UNION ALL ".join(parts).replace("%", "%%")


CHEAP = _statement(OFTEN)
ALL = _statement(rule.name for rule in rules_of(full=True) if rule.name not in LIVENESS)


def check(database: Database, thorough: bool) -> None:
    """After a step: no rule of the audit is broken."""
    for breach in database.run(ALL if thorough else CHEAP):
        raise Breach(f"audit.{breach[0]}: {breach[1]}: {breach[2]}")


@dataclass(frozen=True, slots=True)
class Found:
    """One message's row."""

    id: UUID
    phone: str
    status: MessageStatus
    price: int
    reference: str | None
    carrier: str
    error: str | None
    account: int


class End:
    """A run's end, when nothing is under way any more."""

    def __init__(self, database: Database, traffic: Traffic, carriers: list[ModelCarrier], grace: float) -> None:
        self._database = database
        self._traffic = traffic
        self._carriers = carriers
        self._grace = grace
        rows = database.run(
            "SELECT m.id, m.phone::text, m.status::text, m.price, m.reference, m.carrier, m.error, b.account_id"
            " FROM message m JOIN batch b ON b.id = batch_of(m.id)"
        )
        self.rows = {row[0]: Found(row[0], row[1], MessageStatus(row[2]), *row[3:]) for row in rows}

    def check(self) -> None:
        """Every oracle."""
        for breach in audit(self._database.customers, full=True, doubt_grace=self._grace):
            raise Breach(f"audit.{breach.rule}: {breach.subject}: {breach.detail}")
        self._nothing_is_open()
        self._everybody_is_accounted_for()
        for carrier in self._carriers:
            for message, handed in carrier.messages.items():
                self._agrees(carrier, message, handed)
        self._money()

    def _nothing_is_open(self) -> None:
        for send, state in self._database.run("SELECT id, state::text FROM send WHERE completed_at IS NULL"):
            raise Breach(f"ended: send {send} is {state} for ever")
        matched = (
            "SELECT r.reference FROM receipt r JOIN message m ON m.reference = r.reference AND m.carrier = r.carrier"
            " AND m.phone = coalesce(r.phone, m.phone)"
        )
        for (reference,) in self._database.run(matched):
            raise Breach(f"ended: a receipt of {reference} waits though its message is there")

    def _everybody_is_accounted_for(self) -> None:
        """Every accepted recipient has a final state, is with the carrier, or is in doubt."""
        sends = {row[0]: row for row in self._database.run(SENDS)}
        for draft in self._traffic.sends.values():
            if draft.id not in sends:
                raise Breach(f"accepted: send {draft.id} was accepted and is gone")
        for batch, state, size, next_index, retry_indexes in self._database.run(BATCHES):
            if state not in ENDED:
                raise Breach(f"ended: batch {batch} is {state} for ever")
            unsent = set(range(next_index, size + 1)) | set(retry_indexes or ())
            for index in range(1, size + 1):
                message = message_id(batch, index)
                if (message in self.rows) == (index in unsent):
                    raise Breach(f"accounted: message {message} of a {state} batch has a row and no result, or neither")
        for send, accepted, status in sends.values():
            if accepted != status:
                raise Breach(f"accounted: send {send} accepted {accepted} recipients and tells of {status}")

    def _agrees(self, carrier: ModelCarrier, message: UUID, handed: Handed) -> None:
        """What we say of a message is what the carrier knows of it, or that we do not know."""
        row = self.rows.get(message)
        if handed.taken > 1:
            raise Breach(f"submitted_once: {message} was taken {handed.taken} times")
        if row is None:
            if handed.closed:
                raise Breach(f"known: {message} was submitted and has no row")
            return
        given_up = row.status == MessageStatus.EXPIRED and row.error == "no_response"
        unknown = row.status == MessageStatus.IN_DOUBT or given_up
        if handed.taken and not unknown and row.status not in CHARGED_STATUSES:
            raise Breach(f"known: {message} was taken and is {row.status}")
        if not handed.taken and row.status in CHARGED_STATUSES:
            raise Breach(f"known: {message} was not taken and is {row.status}")
        if row.status in CHARGED_STATUSES and row.reference != handed.reference:
            raise Breach(f"reference: {message} has {row.reference} and not {handed.reference}")
        if handed.reported is None:
            return
        if row.reference == handed.reference:
            due = stronger(MessageStatus.SENT, handed.reported)
            if row.status != due:
                raise Breach(f"receipts: {message} is {row.status} and not {due}")
        elif not self._kept(carrier.name, handed.reference):
            raise Breach(f"receipts: those of {message}, {handed.reference}, are gone; it is {row.status}")

    def _kept(self, carrier: str, reference: str | None) -> bool:
        statement = "SELECT 1 FROM receipt WHERE carrier = %s AND reference = %s"
        return bool(self._database.run(statement, (carrier, reference)))

    def _money(self) -> None:
        """Each account paid for what carriers have, reserves what is in doubt, and has the rest."""
        of_accounts = "SELECT id, available, reserved, sandbox_of IS NOT NULL FROM account"
        for account, available, reserved, is_sandbox in self._database.run(of_accounts):
            given = PLAY_CREDITS if is_sandbox else CREDITS
            mine = [row for row in self.rows.values() if row.account == account]
            paid = sum(row.price for row in mine if row.status in CHARGED_STATUSES)
            doubtful = sum(row.price for row in mine if row.status == MessageStatus.IN_DOUBT)
            if (available, reserved) != (given - paid - doubtful, doubtful):
                raise Breach(f"money: account {account} has {available} and {reserved}, {paid} paid, {doubtful} open")

    def count(self, status: MessageStatus) -> int:
        """Messages with the status."""
        return sum(row.status == status for row in self.rows.values())


BATCHES = "SELECT id, state::text, size, next_index, retry_indexes FROM batch"
SENDS = (
    "SELECT id, accepted, in_doubt + sent + rejected + failed + canceled + expired + undelivered + delivered FROM send"
)
