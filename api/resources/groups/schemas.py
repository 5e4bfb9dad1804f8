"""Schemas of contact groups."""

from typing import Any

from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.errors import fail
from api.schemas.examples import GROUP_ID
from api.schemas.fields import MAX_NAME_LENGTH
from api.schemas.paging import Paging, limit


class GroupName(fields.String):
    """A group's name: 1 to 100 printable characters, with no leading or trailing spaces."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        name = super()._deserialize(value, attr, data, **kwargs)
        if not name.strip() or name.strip() != name or len(name) > MAX_NAME_LENGTH or not name.isprintable():
            raise fail(
                "invalid", f"Use 1 to {MAX_NAME_LENGTH} printable characters, without leading or trailing spaces."
            )
        return name


class GroupBody(Request):
    """The name of a new or renamed group."""

    name = GroupName("The group's name.", "VIP", required=True, minLength=1, maxLength=MAX_NAME_LENGTH)


class GroupPaging(Paging):
    """Paging through groups; without parameters, all of them."""

    limit = limit("Entries on a page, 1 to 1,000; without it and `cursor`, all groups.", default=None)
    search = fields.String("Only groups whose name contains this text, ignoring upper and lower case.", "vip")


class GroupResponse(Response):
    """A contact group."""

    group_id = fields.UUID("The group.", GROUP_ID, attribute="id")
    name = fields.String("The group's name.", "VIP")
    contact_count = fields.Integer("Contacts in the group.", 1234)
    created_at = fields.Timestamp("When it was created.", "2026-01-12T08:15:30.000Z")
    updated_at = fields.Timestamp("When it last changed.", "2026-03-02T09:00:01.250Z")


class DeletedGroupResponse(Response):
    """The group is deleted; sends to it that were already accepted continue."""

    group_id = fields.UUID("The group.", GROUP_ID)
    deleted = fields.Boolean("The group is deleted.", True)
