"""Sends as they are about to be committed."""

from datetime import UTC, datetime, timedelta

from api.commit.draft import Draft
from shared.lifecycle import Category
from shared.sms.segments import segment


def single(account: int, phone: int = 254711000000, category: Category = Category.TRANSACTIONAL) -> Draft:
    """A send of one segment to one phone."""
    now = datetime.now(UTC)
    return Draft(
        account_id=account,
        api_key_id="smsk_test",
        test=False,
        kind="single",
        sender_id="ACME",
        message="Hi",
        segmentation=segment("Hi"),
        category=category,
        created_at=now,
        expires_at=now + timedelta(days=1),
        phones=[str(phone)],
    )
