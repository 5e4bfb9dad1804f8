"""Schemas of SMPP credentials."""

from marshmallow import validate, validates

from api.resources.api_keys.schemas import NETWORKS, WithNetworks, network_list
from api.schemas import fields
from api.schemas.base import Response
from api.schemas.errors import fail
from api.schemas.examples import SMPP_ID
from api.schemas.fields import SENDER_ID_LENGTH
from shared.accounts.smpp_credentials import ALPHABETS, MAX_BINDS, MAX_WINDOW, SYSTEM_ID
from shared.api_key import networks
from shared.senders.sender_ids import NO_SENDER_ID, form_of

WIDEST = 8
"""The shortest prefix of a network that a customer may name: only an operator allows binds from anywhere."""
ALLOWED = "The networks or addresses that it may bind from."
BINDS = ("Maximum open binds.", 2)
WINDOW = ("Maximum unanswered PDUs of a bind, in each direction.", 10)
RATE = ("Maximum submits per second; null means the account's requests per second.", 100)
ALPHABET = ("What `data_coding` 0 means. It cannot change while a bind is open.", "gsm")
SENDER = ("The sender ID of submits without a source address.", "ACME")

PASSWORD = ("The password; store it now. Absent if `Idempotency-Replayed` is true.", "<shown once>")


class ChangeSmppCredential(WithNetworks):
    """Settings of a credential, which hold from the next bind. Open binds keep theirs."""

    widest = WIDEST
    allowed_ips = network_list(ALLOWED, attribute="networks")
    max_binds = fields.WholeNumber(*BINDS, validate=fields.between(1, MAX_BINDS))
    window_size = fields.WholeNumber(*WINDOW, validate=fields.between(1, MAX_WINDOW))
    rate = fields.WholeNumber(*RATE, allow_none=True, validate=fields.between(1, 100_000))
    alphabet = fields.Choice(ALPHABETS, *ALPHABET)
    default_sender = fields.String(*SENDER, allow_none=True, validate=SENDER_ID_LENGTH)

    @validates("allowed_ips")
    def each_a_network(self, allowed_ips: list[str] | None, data_key: str) -> None:
        """A customer names where they bind from."""
        super().each_a_network(allowed_ips, data_key)
        if any(each.prefixlen < self.widest for each in networks(allowed_ips)):
            raise fail("invalid", f"A network has at least /{self.widest}. Only the operator can allow any address.")

    @validates("default_sender")
    def check_sender_id(self, default_sender: str | None, data_key: str) -> None:
        """Carriers must be able to show it unchanged."""
        if default_sender is not None and form_of(default_sender) is None:
            raise fail("invalid_sender_id", NO_SENDER_ID)


class MakeSmppCredential(ChangeSmppCredential):
    """A new credential."""

    system_id = fields.String(
        "The name that it binds with: letters, digits, dots, hyphens and underscores.",
        "acme-1",
        required=True,
        pattern=f"^{SYSTEM_ID.pattern}$",
        validate=validate.Regexp(f"{SYSTEM_ID.pattern}\\Z", error="Use 1 to 15 letters, digits, or any of `._-`."),
    )
    test = fields.StrictBoolean("Create it for the sandbox. Defaults to the kind of the key in use.", False)
    allowed_ips = network_list(ALLOWED, attribute="networks", required=True)


class SmppBindResponse(Response):
    """An open bind."""

    kind = fields.String("Its kind.", "transceiver", one_of=("transmitter", "receiver", "transceiver"))
    address = fields.String("The client's address.", "192.0.2.17")
    since = fields.Timestamp("Since when it is open.", "2026-03-02T09:00:00.120Z", attribute="bound_at")


class SmppNameResponse(Response):
    """A credential."""

    credential_id = fields.UUID("The credential.", SMPP_ID, attribute="id")
    system_id = fields.String("The name that it binds with.", "acme-1")


class SmppCredentialResponse(SmppNameResponse):
    """A credential with its open binds, without its password."""

    test = fields.Boolean("Whether it is of the sandbox: its messages reach no phone and use play credits.", False)
    allowed_ips = fields.List(
        fields.String(), "Where it may bind from; null means anywhere.", NETWORKS, allow_none=True, attribute="networks"
    )
    max_binds = fields.Integer(*BINDS)
    window_size = fields.Integer(*WINDOW)
    rate = fields.Integer(*RATE, allow_none=True)
    alphabet = fields.String(*ALPHABET, one_of=ALPHABETS)
    default_sender = fields.String(*SENDER, allow_none=True)
    created_at = fields.Timestamp("When it was created.", "2026-03-02T09:00:00.120Z")
    binds = fields.List(fields.Nested(SmppBindResponse), "The open binds, oldest first.")


class NewSmppCredentialResponse(SmppCredentialResponse):
    """A new credential with its password, which is shown only once: a replayed response does not contain it."""

    password = fields.String(*PASSWORD, required=False)
    server = fields.String("Host and port to bind at; empty if the operator has not said.", "sms.example.com:2775")


class RevokedSmppResponse(SmppNameResponse):
    """The credential is revoked."""

    revoked = fields.Boolean("Its binds end within seconds.", True)


class ReplayedSmppResponse(SmppNameResponse):
    """What happened since `since` will be delivered again."""

    since = fields.Timestamp("Events from this time on.", "2026-03-01T00:00:00.000Z")
