"""Messages from phones: as they come from carriers, kept before the carrier is answered, and what a STOP does."""

from shared.inbound.keywords import Keyword, keyword_of
from shared.inbound.kinds import Inbound
from shared.inbound.store import end_parts, store

__all__ = ["Inbound", "Keyword", "end_parts", "keyword_of", "store"]
