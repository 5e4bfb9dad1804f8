"""Finds the owner of a request from its head: the account, operator or address whose share of the service it uses."""

from api.auth.caller import Caller
from api.auth.operator_tokens import Operator
from api.endpoint import OPERATOR_PREFIX
from api.http.client_ip import address_of, shared_by_one
from api.http.request import Environ
from api.limits.bulkheads import OperatorOwner, Owner
from api.services import Services
from shared.api_key import is_within


def owner_by_peer(environ: Environ) -> Owner:
    """The address of the peer."""
    return shared_by_one(str(environ.get("REMOTE_ADDR") or ""))


class Owners:
    """Finds owners by token and address."""

    def __init__(self, services: Services) -> None:
        self._tokens, self._operator_tokens = services.tokens, services.operator_tokens
        self._trusted = services.settings.trusted_proxies

    def __call__(self, environ: Environ) -> Owner:
        """The account or operator of a valid token that may be used from this address; otherwise the address.

        A sandbox is an owner of its own.
        """
        tokens = self._operator_tokens if environ["PATH_INFO"].startswith(OPERATOR_PREFIX) else self._tokens
        caller = tokens.signed(environ.get("HTTP_AUTHORIZATION"))
        if caller is not None and not caller.networks:
            return _owner(caller)
        address = address_of(environ, self._trusted)
        if caller is not None and is_within(address, caller.networks):
            return _owner(caller)
        return shared_by_one(address)

    def is_proxy(self, peer: str) -> bool:
        """Whether the peer is a trusted proxy."""
        return is_within(peer, self._trusted)


def _owner(caller: Caller | Operator) -> Owner:
    return OperatorOwner(caller.actor) if isinstance(caller, Operator) else caller.account_id
