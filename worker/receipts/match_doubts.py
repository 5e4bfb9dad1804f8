"""Resolves doubts by receipts whose id matches no message: the response was lost, and the carrier's id with it.

A receipt is evidence for a doubt only if it can be for no other message: across all sends, the doubt is the only
message to its phone (and from its sender, if the receipt names one) that can still get a receipt. And the receipts for
a doubt may have no more distinct ids than it has parts.
"""

import logging
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, Engine, Interval, Row, Text, bindparam, cast, exists, func, select

from shared.carriers.receipts import rank
from shared.db.connection import is_outage_or_timeout, transaction
from shared.db.tables import messages as tables
from shared.doubts.candidates import MAX_VALIDITY, MessageCandidate, candidates
from shared.doubts.resolution import Resolution, resolve
from shared.lifecycle import MessageStatus
from worker.carriers.base import PARTLY_SENT

log = logging.getLogger(__name__)

BEFORE, AFTER = timedelta(days=3), timedelta(minutes=5)
"""The longest time from submit to the time in a receipt, and the largest clock difference."""
MAX_RECEIPTS = 10_000

DOUBTS, RECEIPTS = tables.doubt.c, tables.receipt.c
UNMATCHED = (
    select(
        cast(RECEIPTS.phone, Text).label("phone"),
        *RECEIPTS["carrier", "reference", "status", "error", "done_at", "received_at", "sender_id", "precision"],
    )
    .where(
        RECEIPTS.received_at > func.now() - bindparam("newest", type_=Interval),
        exists().where(DOUBTS.carrier == RECEIPTS.carrier, DOUBTS.phone == RECEIPTS.phone),
    )
    .order_by(RECEIPTS.id.desc())
    .limit(MAX_RECEIPTS)
)


def resolve_by_receipts(engine: Engine, newest: float) -> int:
    """Resolve doubts by unmatched receipts of the last `newest` seconds. Returns how many.

    The receipts are kept: from now on they match their message by its id. If the doubts cannot be resolved together,
    they are resolved one by one.
    """
    resolutions = list[Resolution]()
    try:
        with transaction(engine) as connection:
            receipts = connection.execute(UNMATCHED, {"newest": timedelta(seconds=newest)}).all()
            for carrier in sorted({receipt.carrier for receipt in receipts}):
                of_carrier = [receipt for receipt in receipts if receipt.carrier == carrier]
                resolutions += _resolutions(connection, carrier, of_carrier)
            return resolve(connection, resolutions) if resolutions else 0
    except Exception as error:
        if is_outage_or_timeout(error) or not resolutions:
            raise
        log.warning("%d doubts could not be resolved together: %s", len(resolutions), type(error).__name__)
    return sum(_resolve_alone(engine, resolution) for resolution in resolutions)


def _resolve_alone(engine: Engine, resolution: Resolution) -> int:
    try:
        with transaction(engine) as connection:
            return resolve(connection, [resolution])
    except Exception as error:
        if is_outage_or_timeout(error):
            raise
        log.warning("the doubt of message %s could not be resolved: %s", resolution.message_id, type(error).__name__)
        return 0


def _resolutions(connection: Connection, carrier: str, receipts: list[Row[Any]]) -> list[Resolution]:
    since = min(receipt.received_at for receipt in receipts) - MAX_VALIDITY
    of_phone: dict[str, list[MessageCandidate]] = {}
    for candidate in candidates(connection, carrier, {receipt.phone for receipt in receipts}, since):
        of_phone.setdefault(candidate.phone, []).append(candidate)
    known = {candidate.reference for group in of_phone.values() for candidate in group}
    evidence: dict[MessageCandidate, list[Row[Any]]] = {}
    for receipt in receipts:
        if receipt.reference not in known:
            fitting = [each for each in of_phone.get(receipt.phone, []) if _may_be_for(receipt, each)]
            if len(fitting) == 1 and fitting[0].status == MessageStatus.IN_DOUBT:
                evidence.setdefault(fitting[0], []).append(receipt)
    resolutions = []
    for doubt, of_doubt in evidence.items():
        in_time = [receipt for receipt in of_doubt if _in_time(receipt, doubt)]
        if doubt.error == PARTLY_SENT:
            in_time = [receipt for receipt in in_time if receipt.status != MessageStatus.SENT]
        if in_time and len({receipt.reference for receipt in of_doubt}) <= doubt.parts:
            resolutions.append(_resolution(doubt, _decisive(in_time)))
    return resolutions


def _resolution(doubt: MessageCandidate, receipt: Row[Any]) -> Resolution:
    """What the receipt means for it. One that was sent in part is undelivered, whatever becomes of an accepted part."""
    status, error = MessageStatus(receipt.status), receipt.error
    if doubt.error == PARTLY_SENT:
        status, error = MessageStatus.UNDELIVERED, PARTLY_SENT
    result = (doubt.message_id, status, receipt.reference, error)
    carrier_at = None if receipt.precision is None else receipt.done_at
    return Resolution(*result, by="receipt", carrier_at=carrier_at, precision=receipt.precision)


def _may_be_for(receipt: Row[Any], candidate: MessageCandidate) -> bool:
    """Whether the receipt can be for the message: the sender matches, and it was submitted before the receipt came."""
    at = candidate.submitted_at
    submitted_before = at is None or receipt.received_at - MAX_VALIDITY < at <= receipt.received_at + AFTER
    return submitted_before and not candidate.answered and candidate.sent_by(receipt.sender_id)


def _in_time(receipt: Row[Any], doubt: MessageCandidate) -> bool:
    return doubt.submitted_at is not None and -AFTER <= receipt.done_at - doubt.submitted_at <= BEFORE


def _decisive(receipts: list[Row[Any]]) -> Row[Any]:
    """The receipt that decides: the strongest of each part's; delivered only if no part is undelivered."""
    strongest: dict[str, Row[Any]] = {}
    for receipt in sorted(receipts, key=rank):
        strongest[receipt.reference] = receipt
    ordered = sorted(strongest.values(), key=rank)
    return next((receipt for receipt in ordered if receipt.status != MessageStatus.SENT), ordered[0])
