"""What every new key is checked for, of an account or an operator."""

from collections.abc import Collection, Sequence

from shared.accounts.refused import Refused
from shared.api_key import networks


def check_scopes(scopes: Collection[str], known: Collection[str]) -> None:
    """Raise Refused unless there is a scope, and all of them are known."""
    unknown = sorted(set(scopes).difference(known))
    if unknown or not scopes:
        raise Refused(f"Unknown scopes: {', '.join(unknown) or 'none given'}. Known scopes: {', '.join(known)}.")


def allowed_networks(allowed_ips: Sequence[str] | None) -> list[str] | None:
    """The networks as they are stored; None: no restriction. Raises Refused for an invalid one."""
    try:
        return [str(network) for network in networks(allowed_ips)] or None
    except ValueError as error:
        raise Refused(f"{error}. Write a network like 192.0.2.0/24, or one address.") from None
