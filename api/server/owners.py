"""Whose request it is, by its head alone: what it holds of the service is counted to that account or address."""

from api.http.client_ip import address_of, shared_by_one
from api.http.wsgi import Environ
from api.limits.bulkheads import Owner
from api.services import Services
from shared.api_key import is_within


def owner_by_peer(environ: Environ) -> Owner:
    """The address that is connected."""
    return shared_by_one(str(environ.get("REMOTE_ADDR") or ""))


class Owners:
    """Knows the owner of a request."""

    def __init__(self, services: Services) -> None:
        self._tokens = services.tokens
        self._trusted = services.settings.trusted_proxies

    def __call__(self, environ: Environ) -> Owner:
        """The account of a live token that is used from where it may be, or the address that it comes from."""
        caller = self._tokens.signed(environ.get("HTTP_AUTHORIZATION"))
        if caller is not None and not caller.networks:
            return caller.account_id
        address = address_of(environ, self._trusted)
        if caller is not None and is_within(address, caller.networks):
            return caller.account_id
        return shared_by_one(address)

    def is_proxy(self, peer: str) -> bool:
        """Whether the peer brings the requests of others."""
        return is_within(peer, self._trusted)
