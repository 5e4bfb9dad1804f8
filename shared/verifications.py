"""Verifications: the codes, how their texts are shown, and how many are entered.

A code is random and stored encrypted, under a key that SECRET_KEY and the verification's id give, because it is sent
again as it is. `api/resources/verifications/` starts and checks verifications.
"""

import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from unicodedata import category, decimal

from sqlalchemy import BigInteger, Connection, Row, Text, case, cast, func, select

from shared.api_key import secret_key_id
from shared.db.tables.verifications import verification
from shared.encryption import TextKey, Texts, derive_key
from shared.ids import first_id_at

KEPT = timedelta(days=30)
"""For how long an expired verification is kept."""
AREA = 10**6
"""Phones per prefix: those that differ in their last six digits, as for the pumping guard."""
MAX_RATES = 1_000

COLUMNS = verification.c
MAY_HAVE_CODE = re.compile(r"\d{4,}", re.ASCII)
NOW = func.statement_timestamp()
IS_APPROVED = COLUMNS.approved_at.is_not(None)
IS_OVER = COLUMNS.expires_at <= NOW
IS_EXHAUSTED = COLUMNS.checks >= COLUMNS.max_checks
PREFIX = cast(COLUMNS.phone // cast(AREA, BigInteger), Text)


class Status(StrEnum):
    """The states of a verification."""

    PENDING = "pending"
    APPROVED = "approved"
    EXPIRED = "expired"
    EXHAUSTED = "exhausted"
    REPLACED = "replaced"


STATUS = case(
    (IS_APPROVED, Status.APPROVED),
    (COLUMNS.replaced_at.is_not(None), Status.REPLACED),
    (IS_OVER, Status.EXPIRED),
    (IS_EXHAUSTED, Status.EXHAUSTED),
    else_=Status.PENDING,
)
"""SQL: the status of a verification now."""


def code_texts(secret_key: str, fallbacks: Sequence[str] = ()) -> Texts:
    """The encryption of codes."""
    keys = ((secret_key_id(key).hex(), derive_key(key, b"verification codes")) for key in (secret_key, *fallbacks))
    return Texts([TextKey(*key) for key in keys], checked=True)


def new_code(digits: int) -> str:
    """A random code."""
    return f"{secrets.randbelow(10**digits):0{digits}}"


def as_digits(entered: str) -> bytes:
    """What a person has entered, without blanks, hyphens and invisible characters, and with ASCII's digits."""
    kept = (char for char in entered if category(char)[0] not in "CZ" and category(char) != "Pd")
    return "".join(str(decimal(char, char)) for char in kept).encode()


def shown(text: str, send: Any) -> str:
    """The text of a send as people and programs may read it: a code has asterisks for digits. In a sandbox, which
    reaches no phone, it is shown."""
    if send.verification_id is None or send.test:
        return text
    return MAY_HAVE_CODE.sub(lambda code: "*" * len(code[0]), text)


def read_rates(
    connection: Connection, account_id: int, since: datetime, until: datetime, by: str
) -> Sequence[Row[Any]]:
    """The account's verifications that began in a period, counted `by` country or prefix, the most frequent first."""
    group, total = (COLUMNS.country if by == "country" else PREFIX).label("group"), func.count()
    counted = (
        select(
            group,
            total.label("started"),
            func.sum(COLUMNS.sends).label("sends"),
            total.filter(IS_APPROVED).label("approved"),
            total.filter(~IS_APPROVED, IS_EXHAUSTED).label("exhausted"),
            total.filter(~IS_APPROVED, ~IS_EXHAUSTED, IS_OVER).label("expired"),
        )
        .where(COLUMNS.account_id == account_id, COLUMNS.id >= first_id_at(since), COLUMNS.id < first_id_at(until))
        .group_by(group)
        .order_by(total.desc(), group)
        .limit(MAX_RATES)
    )
    return connection.execute(counted).all()
