"""Schemas of accounts' SMPP credentials: only operators may allow binds from anywhere."""

from typing import Any

from api.operator.fields import ACCOUNT_ID
from api.resources.api_keys.schemas import network_list
from api.resources.smpp_credentials.schemas import (
    ALLOWED,
    ChangeSmppCredential,
    MakeSmppCredential,
    SmppBindResponse,
)
from api.schemas import fields
from api.schemas.examples import SMPP_ID

OR_NULL = f"{ALLOWED} null means any: strangers can then lock it out by trying passwords."


class ChangeAccountSmpp(ChangeSmppCredential):
    """Settings of a credential, which hold from the next bind. Open binds keep theirs."""

    widest = 0
    allowed_ips = network_list(OR_NULL, attribute="networks", allow_none=True)


class MakeAccountSmpp(MakeSmppCredential):
    """A new credential of an account, or with `test` of its sandbox."""

    widest = 0
    allowed_ips = network_list(OR_NULL, attribute="networks", allow_none=True, required=True)
    test = fields.StrictBoolean("Create it for the account's sandbox.", False)


BODIES: dict[Any, Any] = {ChangeSmppCredential: ChangeAccountSmpp, MakeSmppCredential: MakeAccountSmpp}
"""Of operators' requests, by those of customers'."""


class OpenBindResponse(SmppBindResponse):
    """An open bind of a credential."""

    credential_id = fields.UUID("The credential.", SMPP_ID)
    system_id = fields.String("The name that it binds with.", "acme-1")
    account_id = fields.Integer("The account, or sandbox.", ACCOUNT_ID)
