"""Logs the batches of requests that are logged: one line for each cycle, with the request's id."""

import logging
from collections import Counter
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Row

from shared.lifecycle import MessageStatus
from shared.observability.logs import fields
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.settle_rest import Settlement

log = logging.getLogger(__name__)


def log_results(carrier: str, batches: Iterable[ClaimedBatch]) -> None:
    """Log the results of a cycle that is settled: messages by status, and how many of the batch have none yet."""
    for batch in batches:
        if batch.request_id is None:
            continue
        statuses = Counter(str(result.status) for result in batch.results if result is not None)
        log.info(
            "a cycle of a batch ended",
            extra=fields(
                request_id=batch.request_id,
                send_id=str(batch.send_id),
                batch_id=str(batch.batch_id),
                account=batch.account_id,
                carrier=carrier,
                statuses=dict(statuses),
                left=batch.left - batch.known,
            ),
        )


def log_recovered(row: Row[Any], settlement: Settlement) -> None:
    """Log a batch whose worker had not renewed its lease: messages put in doubt, and how many have no result yet."""
    log.warning(
        "a batch was recovered: its worker had not renewed its lease",
        extra=fields(
            request_id=row.request_id,
            send_id=str(row.send_id),
            batch_id=str(row.id),
            account=row.account_id,
            in_doubt=settlement.tally[MessageStatus.IN_DOUBT],
            left=settlement.left,
        ),
    )
