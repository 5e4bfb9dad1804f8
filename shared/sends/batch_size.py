"""How many messages a batch has."""

from typing import Final

BATCH_SIZE: Final = 1000
"""Recipients per batch, and so per Celery task."""
