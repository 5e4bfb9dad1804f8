"""Findings of `bulksms doctor` about receipts that cannot be parsed and receipts whose ids do not match.

Ids that a carrier writes differently in responses and receipts can be matched by a setting in CARRIERS_FILE; the
finding names it.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, Row, func, select, text

from shared.db.tables.messages import unreadable_receipt
from shared.health.finding import Finding, hint

SAMPLE = 300
"""Number of unmatched receipts examined per carrier."""
MIN_MATCHES = 3
MIN_SHARE = 0.5
"""Share of the sample that must match with the ids converted."""

RECEIPTS = unreadable_receipt.c
UNREADABLE = (
    select(RECEIPTS.carrier, RECEIPTS.reason, func.count().label("receipts"))
    .add_columns(func.max(RECEIPTS.received_at).label("latest"))
    .where(RECEIPTS.received_at > func.clock_timestamp() - timedelta(days=1))
    .group_by(RECEIPTS.carrier, RECEIPTS.reason)
    .order_by(RECEIPTS.carrier, RECEIPTS.reason)
)
LONG_MESSAGES = text(
    """
    SELECT m.carrier, count(*) FILTER (WHERE m.is_long) AS long,
           count(*) FILTER (WHERE m.is_long AND m.status = 'sent') AS long_without,
           count(*) FILTER (WHERE NOT m.is_long) AS short,
           count(*) FILTER (WHERE NOT m.is_long AND m.status = 'sent') AS short_without
      FROM (SELECT m.carrier, m.status, coalesce(b.segments, s.segments) > 1 AS is_long
              FROM message m JOIN batch b ON b.id = batch_of(m.id) JOIN send s ON s.id = b.send_id
             WHERE m.submitted_at BETWEEN clock_timestamp() - interval '1 day' AND clock_timestamp() - interval '1 hour'
               AND m.status IN ('sent', 'delivered', 'undelivered') AND m.carrier IS NOT NULL
             ORDER BY m.id DESC LIMIT 20000) m
     GROUP BY m.carrier ORDER BY m.carrier
    """
)
"""Of the last messages that were submitted an hour ago or more: those without a final receipt, long and short ones."""
MIN_LONG = 20
"""Long messages of a carrier that say something about it."""
UNMATCHED = text(
    """
    SELECT r.carrier, r.reference, r.phone
      FROM (SELECT DISTINCT carrier FROM receipt WHERE received_at > clock_timestamp() - interval '1 day') c
     CROSS JOIN LATERAL (SELECT carrier, reference, phone, id FROM receipt
                          WHERE carrier = c.carrier AND received_at > clock_timestamp() - interval '1 day'
                          ORDER BY id DESC LIMIT :sample) r
     ORDER BY r.carrier, r.id
    """
)
"""The latest unmatched receipts of each carrier: one carrier with many leaves none of the others out."""
MATCHING = text(
    """
    SELECT count(DISTINCT w.number)
      FROM unnest(CAST(:references AS text[]), CAST(:phones AS bigint[]))
           WITH ORDINALITY AS w (reference, phone, number)
      JOIN message m ON m.reference = w.reference AND m.carrier = :carrier AND (w.phone IS NULL OR m.phone = w.phone)
    """
)
"""How many of the converted ids belong to a message: one look at the index of references for each, in one statement."""


def _padded(digits: int, base: str) -> Callable[[str], str]:
    return lambda identity: f"{int(identity):0{digits}{base}}"


ID_FORMATS: tuple[tuple[str, str, Callable[[str], str]], ...] = (
    ("read as hexadecimal", 'receipt_id = "hex_to_decimal"', lambda identity: str(int(identity, 16))),
    ("written as hexadecimal", 'receipt_id = "decimal_to_hex"', _padded(0, "x")),
    ("written as hexadecimal", 'receipt_id = "decimal_to_hex" and id_case = "lower"', _padded(0, "X")),
    ("written as hexadecimal", 'receipt_id = "decimal_to_hex" and id_zeros = "strip"', _padded(8, "x")),
    ("written as hexadecimal", 'receipt_id = "decimal_to_hex" and id_zeros = "strip"', _padded(10, "x")),
    ("written in small letters", 'id_case = "lower"', str.lower),
    ("written in capitals", 'id_case = "lower"', str.upper),
    ("written without leading zeros", 'id_zeros = "strip"', lambda identity: identity.lstrip("0")),
    ("written with leading zeros", 'id_zeros = "strip"', lambda identity: identity.rjust(8, "0")),
    ("written with leading zeros", 'id_zeros = "strip"', lambda identity: identity.rjust(10, "0")),
)
"""Conversions of a receipt's id: description, the setting that reconciles the ids, and the function."""
UNDONE = {"hex_to_decimal": "decimal_to_hex", "decimal_to_hex": "hex_to_decimal"}
REMEDIES = {
    "not_marked": (
        "They read like receipts and are not marked as such (esm_class 0). If the carrier confirms that they are, set"
        " unmarked_receipts = true for it in CARRIERS_FILE and restart the workers"
    ),
    "broken_parameters": "What could be read of them was used. Show the carrier the octets: their end is broken",
    "not_a_message": (
        "These callbacks to /inbound have no phone, recipient or text at the paths of `inbound` of the carrier in"
        " CARRIERS_FILE. If they are notices of opt-outs, declare `opt_out`"
    ),
    "unknown_status": "Add their statuses to `receipts.statuses` of the carrier in CARRIERS_FILE",
}


def check_receipts(connection: Connection) -> Iterator[Finding]:
    """Yield findings about the receipts of the last day."""
    for row in connection.execute(UNREADABLE).all():
        detail = f"{row.receipts:,} of the last day could not be parsed ({row.reason}), last {row.latest:%H:%M:%S}Z"
        remedy = REMEDIES.get(row.reason, "Ask the carrier what they mean")
        command = hint("carrier", "unreadable", row.carrier)
        yield Finding(f"unreadable receipts of {row.carrier}", "wrong", detail, f"{remedy}. To list them: {command}")
    for row in connection.execute(LONG_MESSAGES).all():
        if row.long >= MIN_LONG and row.long_without > 0.9 * row.long and row.short_without < 0.5 * row.short:
            detail = (
                f"{row.long_without:,} of {row.long:,} long messages have no final receipt after an hour; short ones do"
            )
            remedy = (
                'If the carrier reports only one part of each, set receipts_of_long_messages = "one" for it in'
                " CARRIERS_FILE and restart the workers"
            )
            yield Finding(f"receipts of long messages of {row.carrier}", "wrong", detail, remedy)
    rows = connection.execute(UNMATCHED, {"sample": SAMPLE}).all()
    for carrier in sorted({row.carrier for row in rows}):
        finding = _other_format(connection, carrier, [row for row in rows if row.carrier == carrier])
        if finding is not None:
            yield finding


def _other_format(connection: Connection, carrier: str, receipts: Sequence[Row[Any]]) -> Finding | None:
    """A finding with the id format that matches most of the unmatched receipts, if there is one."""
    best, id_format, setting = 0, "", ""
    for description, candidate_setting, convert in ID_FORMATS:
        converted = [(_try(convert, row.reference), row.phone) for row in receipts]
        pairs = [
            (identity, phone)
            for (identity, phone), row in zip(converted, receipts, strict=True)
            if identity != row.reference
        ]
        values = {"references": [identity for identity, _ in pairs], "phones": [phone for _, phone in pairs]}
        matching = connection.execute(MATCHING, {"carrier": carrier, **values}).scalar_one() if pairs else 0
        if matching > best:
            best, id_format, setting = matching, description, candidate_setting
    if best < max(MIN_MATCHES, MIN_SHARE * len(receipts)):
        return None
    detail = f"{best:,} of {len(receipts):,} unmatched receipts match a message if their ids are {id_format}"
    remedy = f"Set {setting} for the carrier in CARRIERS_FILE and restart the workers."
    for name, opposite in UNDONE.items():
        if f'"{name}"' in setting:
            remedy += f' If receipt_id is "{opposite}" now, that is the mistake: remove it.'
    return Finding(f"receipt ids of {carrier}", "wrong", detail, remedy)


def _try(convert: Callable[[str], str], identity: str) -> str:
    try:
        return convert(identity)
    except ValueError:
        return identity
