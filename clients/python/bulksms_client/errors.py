"""What can go wrong. The tree is drawn in the package's docstring."""

from collections.abc import Mapping
from typing import Any


class BulkSmsError(Exception):
    """The base of all errors of this package."""


class ApiError(BulkSmsError):
    """The service answered with an error. `code` tells errors apart, `detail` is for people.

    A response that is not the API's, such as a redirect or a proxy's page, has the code `unknown`.
    """

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = problem
        self.code = str(problem.get("code", "unknown"))
        self.detail = str(problem.get("detail", ""))
        super().__init__(f"{status} {self.code}: {self.detail}")


class LowBalance(ApiError):
    """The send needs more credits than there are. Nothing was sent."""

    @property
    def required(self) -> int:
        """Credits that the send needs."""
        return int(self.problem["required"])

    @property
    def balance(self) -> int:
        """Credits that are left."""
        return int(self.problem["balance"])


class Unreachable(BulkSmsError):
    """No response came after all tries, or a file broke off. Repeated with the same key, a request has one effect."""


class StillOpen(BulkSmsError):
    """The wait timed out before the message or send was finished."""


class InvalidSignature(BulkSmsError):
    """The webhook was not signed with this secret, or too long ago."""
