"""Which receipts of carriers are lost on us, for `bulksms doctor`: those that cannot be read, and those whose ids are
written in another way than in the answers. It says which setting of CARRIERS_FILE would mend it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, text

from bulksms.commands.common import hint
from bulksms.finding import Finding

SAMPLE = 300
"""Unmatched receipts of a carrier that are looked at."""
FEWEST = 3
SHARE = 0.5
"""Of the sample, that must match when their ids are written in another way."""

UNREADABLE = text(
    """
    SELECT carrier, reason, count(*) AS receipts, max(received_at) AS latest
      FROM unreadable_receipt WHERE received_at > clock_timestamp() - interval '1 day'
     GROUP BY carrier, reason ORDER BY carrier, reason
    """
)
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
MATCHING = text(
    """
    SELECT count(DISTINCT w.number)
      FROM unnest(CAST(:references AS text[]), CAST(:phones AS bigint[]))
           WITH ORDINALITY AS w (reference, phone, number)
      JOIN message m ON m.reference = w.reference AND m.carrier = :carrier AND (w.phone IS NULL OR m.phone = w.phone)
    """
)


def _padded(digits: int, base: str) -> Callable[[str], str]:
    return lambda identity: f"{int(identity):0{digits}{base}}"


SPELLINGS: tuple[tuple[str, str, Callable[[str], str]], ...] = (
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
"""How the id in an answer may differ from that in its receipt, and what then makes them the same."""
UNDONE = {"hex_to_decimal": "decimal_to_hex", "decimal_to_hex": "hex_to_decimal"}
REMEDIES = {
    "not_marked": (
        "They read like receipts and are not marked as such (esm_class 0). If the carrier says that they are, set"
        " unmarked_receipts = true for it in CARRIERS_FILE and restart the workers"
    ),
    "unknown_status": "Add their statuses to `receipts.statuses` of the carrier in CARRIERS_FILE",
}


def check_receipts(connection: Connection) -> Iterator[Finding]:
    """What is wrong with the receipts of the last day."""
    for row in connection.execute(UNREADABLE).all():
        detail = f"{row.receipts:,} of the last day are kept as they came ({row.reason}), last {row.latest:%H:%M:%S}Z"
        remedy = REMEDIES.get(row.reason, "Ask the carrier what they mean")
        command = hint("carriers", "unreadable", row.carrier)
        yield Finding(
            f"unreadable receipts of {row.carrier}", "wrong", detail, f"{remedy}. They are shown by: {command}"
        )
    rows = connection.execute(UNMATCHED, {"sample": SAMPLE}).all()
    for carrier in sorted({row.carrier for row in rows}):
        found = _other_spelling(connection, carrier, [row for row in rows if row.carrier == carrier])
        if found is not None:
            yield found


def _other_spelling(connection: Connection, carrier: str, receipts: Sequence[Row[Any]]) -> Finding | None:
    """The way of writing ids by which most of the unmatched receipts match."""
    best, spelling, setting = 0, "", ""
    for how, change, spell in SPELLINGS:
        spelled = [(_try(spell, row.reference), row.phone) for row in receipts]
        pairs = [
            (identity, phone)
            for (identity, phone), row in zip(spelled, receipts, strict=True)
            if identity != row.reference
        ]
        values = {"references": [identity for identity, _ in pairs], "phones": [phone for _, phone in pairs]}
        matching = connection.execute(MATCHING, {"carrier": carrier, **values}).scalar_one() if pairs else 0
        if matching > best:
            best, spelling, setting = matching, how, change
    if best < max(FEWEST, SHARE * len(receipts)):
        return None
    detail = f"{best:,} of {len(receipts):,} that found no message find theirs when their ids are {spelling}"
    remedy = f"Set {setting} for the carrier in CARRIERS_FILE and restart the workers."
    for name, opposite in UNDONE.items():
        if f'"{name}"' in setting:
            remedy += f' If receipt_id is "{opposite}" now, that is what is wrong: take it out.'
    return Finding(f"receipt ids of {carrier}", "wrong", detail, remedy)


def _try(spell: Callable[[str], str], identity: str) -> str:
    try:
        return spell(identity)
    except ValueError:
        return identity
