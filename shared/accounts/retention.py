"""For how long texts and phones of completed sends are kept."""

from shared.accounts.refused import Refused
from shared.settings import MAX_RETENTION_DAYS


def check_retention_days(days: int | None) -> None:
    """Raise Refused unless an account may have this number of days. None stands for the installation's setting."""
    if days is not None and not 1 <= days <= MAX_RETENTION_DAYS:
        raise Refused(f"Texts and phone numbers are kept for 1 to {MAX_RETENTION_DAYS:,} days; {days:,} were given.")
