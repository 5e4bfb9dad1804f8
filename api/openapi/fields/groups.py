"""The words of groups and contacts."""

from typing import Final

from api.openapi.fields.core import GROUP_ID, NOT_A_PHONE, PHONE, Word

CODES = ["invalid_phone", "duplicate", "unknown_field", "wrong_type", "invalid", "too_long"]
WORDS: Final[dict[str, Word]] = {
    "absent": ("Phones that were not in the group.", 1),
    "added": ("Contacts that are new in the group.", 2),
    "changed": ("Contacts of the group that got other fields or tags.", 1),
    "contact_count": ("Contacts in the group.", 1234),
    "contacts": (
        "1 to 100,000 contacts: phones, or objects with `phone` and perhaps `fields` (up to 30 texts by name, for"
        " placeholders) and `tags` (up to 20).",
        [PHONE, {"phone": "254711000001", "fields": {"name": "Ann"}, "tags": ["vip"]}],
    ),
    "deleted": ("The group is deleted.", True),
    "fields": ("Texts by name, for placeholders in messages.", {"name": "Ann", "city": "Nairobi"}),
    "name": ("The group's name.", "VIP"),
    "removed": ("Contacts that were taken out.", 2),
    "tag": ("Only contacts with this tag.", "vip"),
    "tags": ("Words by which contacts are found.", ["vip", "new"]),
    "unchanged": ("Contacts that were in the group as they are.", 0),
    "ContactCounts.duplicate": ("Not taken: listed before.", 1),
    "ContactCounts.invalid": ("Not taken: see `rejected`.", 1),
    "ContactCounts.submitted": ("Entries of the request.", 5),
    "DeletedGroup.group_id": ("The group.", GROUP_ID),
    "Group.created_at": ("When it was made.", "2026-01-12T08:15:30.000Z"),
    "Group.group_id": ("The group.", GROUP_ID),
    "PhonesBody.phones": ("1 to 100,000 phones, written as they may be for the account's country.", [PHONE]),
    "PutContacts.group_id": ("The group.", GROUP_ID),
    "PutContacts.rejected": (
        "The entries that were not taken, 1,000 at most.",
        [{"index": 3, "phone": "0712", "code": "invalid_phone", "detail": NOT_A_PHONE}],
    ),
    "RejectedContact.code": ("Why.", "invalid_phone", {"enum": CODES}),
    "RejectedContact.index": ("The entry's place in `contacts`, from 0.", 3),
    "RemovedContacts.group_id": ("The group.", GROUP_ID),
}
