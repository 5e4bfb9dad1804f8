"""Receipts with a known id whose phone is written otherwise than the message's.

That is in the other spelling of the subscriber, or in the other address: some SMSCs do not swap those of the submit.
"""

from collections.abc import Callable

from sqlalchemy import Connection

from shared.carriers.receipts import Receipt
from shared.sms.phones import is_phone
from shared.sms.spellings import other_spellings

Apply = Callable[[Connection, str, list[Receipt]], list[Receipt]]
"""Applies a carrier's receipts, and returns the unmatched ones."""


def in_other_forms(apply: Apply, connection: Connection, carrier: str, receipts: list[Receipt]) -> list[Receipt]:
    """Apply unmatched receipts by the other forms of their phones. Returns those that are still unmatched.

    Only those that have waited: most others come before the result of their submit is recorded.
    """
    forms = [(receipt, form) for receipt in receipts if receipt.received_at is not None for form in _forms(receipt)]
    missed = set(map(id, apply(connection, carrier, [form for _, form in forms]))) if forms else set()
    matched = {id(receipt) for receipt, form in forms if id(form) not in missed}
    return [receipt for receipt in receipts if id(receipt) not in matched]


def _forms(receipt: Receipt) -> list[Receipt]:
    spelled = other_spellings(receipt.phone) if receipt.phone is not None else ()
    swapped = [receipt.sender_id] if receipt.sender_id is not None and is_phone(receipt.sender_id) else []
    return [receipt._replace(phone=phone) for phone in (*spelled, *swapped)]
