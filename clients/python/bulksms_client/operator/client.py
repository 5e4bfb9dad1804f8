"""The client of the operator API."""

from typing import Self

from bulksms_client.operator.accounts import AccountKeys, Accounts, TopUps
from bulksms_client.operator.carriers import Carriers
from bulksms_client.operator.doubts import Doubts
from bulksms_client.operator.installation import Installation
from bulksms_client.operator.messages import AccountMessages, UnassignedInbound
from bulksms_client.operator.prices import PriceLists
from bulksms_client.operator.sender_ids import SenderIdRequests
from bulksms_client.transport import KeyTokens, Transport
from bulksms_client.wire import Wire

OPERATOR_PREFIX = "/operator/v1"


class OperatorThemes:
    """Everything of the installation that a token allows. Responses are the JSON of the API."""

    def __init__(self, transport: Transport) -> None:
        self.accounts = Accounts(transport)
        self.api_keys = AccountKeys(transport)
        self.carriers = Carriers(transport)
        self.doubts = Doubts(transport)
        self.inbound = UnassignedInbound(transport)
        self.installation = Installation(transport)
        self.messages = AccountMessages(transport)
        self.price_lists = PriceLists(transport)
        self.sender_ids = SenderIdRequests(transport)
        self.top_ups = TopUps(transport)


class OperatorClient(OperatorThemes):
    """One installation, with an operator key. May be used by several threads. Its attributes are the API by theme.

    `timeout` is per try, in seconds; a request has up to `tries` tries. `close` ends its connections, and so does
    the end of a `with` block.
    """

    def __init__(self, url: str, operator_key: str, secret: str, *, timeout: float = 30.0, tries: int = 5) -> None:
        wire = Wire(url, timeout, tries, prefix=OPERATOR_PREFIX)
        self._transport = Transport(wire, KeyTokens(wire, operator_key, secret))
        super().__init__(self._transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()
