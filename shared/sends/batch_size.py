"""How many messages a batch may have."""

from typing import Final

BATCH_SIZE: Final = 1000
"""Maximum number of recipients of a batch."""
