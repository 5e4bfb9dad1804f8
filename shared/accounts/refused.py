"""The error for what cannot be done."""


class Refused(Exception):
    """The request cannot be carried out.

    `reason` says why, and what to do instead; `hint` names the command that helps. The message has both. An API
    responds with the reason, and with the `code` of its catalogue.
    """

    def __init__(self, reason: str, hint: str = "", code: str = "state_conflict") -> None:
        super().__init__(f"{reason} {hint}" if hint else reason)
        self.reason = reason
        self.code = code


class Missing(Refused):
    """What the request is about does not exist."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason, hint, "not_found")


def no_account(account: int | str) -> Refused:
    """The error for an account that does not exist, given by its id or name."""
    return Refused(f"There is no account {account!r}.", "`bulksms account list` shows them all.")
