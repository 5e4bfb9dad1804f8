"""Schema of a new API key."""

from marshmallow import validate

from api.resources.api_keys.schemas import KNOWN_SCOPES, MakeApiKey
from api.schemas import fields
from shared.scopes import DEFAULT_SCOPES, SCOPES


class NewKey(MakeApiKey):
    """A new API key of an account."""

    test = fields.StrictBoolean("Create a test key, for the account's sandbox.", False, load_default=False)
    scopes = fields.List(
        fields.String(validate=validate.OneOf(SCOPES, error=KNOWN_SCOPES)),
        f"What the key may be used for, any of {', '.join(SCOPES)}. Defaults to `sms:send` and the `:read` scopes.",
        ["sms:send", "sms:read"],
        load_default=list(DEFAULT_SCOPES),
        validate=validate.Length(1, len(SCOPES), error="Name {min} to {max} scopes."),
    )
