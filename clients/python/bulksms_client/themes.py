"""The API by theme: `client.groups.create("VIP")`. Responses are the JSON of the API."""

from bulksms_client.api_keys import ApiKeys
from bulksms_client.credits import Money, UsageReports
from bulksms_client.groups import Groups
from bulksms_client.memberships import Invitations, Memberships
from bulksms_client.messages import Exports, Inbound, Messages, Verifications
from bulksms_client.sender_ids import SenderIds
from bulksms_client.sends import Sends
from bulksms_client.smpp import SmppCredentials
from bulksms_client.suppressions import Suppressions
from bulksms_client.transport import Transport
from bulksms_client.webhook_settings import Webhooks


class Themes:
    """Everything of one account that a token allows."""

    def __init__(self, transport: Transport) -> None:
        self.api_keys = ApiKeys(transport)
        self.exports = Exports(transport)
        self.groups = Groups(transport)
        self.inbound = Inbound(transport)
        self.invitations = Invitations(transport)
        self.messages = Messages(transport)
        self.money = Money(transport)
        self.people = Memberships(transport)
        self.sender_ids = SenderIds(transport)
        self.sends = Sends(transport)
        self.smpp = SmppCredentials(transport)
        self.suppressions = Suppressions(transport)
        self.usage = UsageReports(transport)
        self.verifications = Verifications(transport)
        self.webhooks = Webhooks(transport)
