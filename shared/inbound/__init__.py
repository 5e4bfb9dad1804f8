"""Inbound messages: stored before the carrier gets its response, and searched for STOP and START."""

from shared.inbound.keywords import Keyword, keyword_of
from shared.inbound.kinds import Coded, Inbound
from shared.inbound.store import end_parts, store

__all__ = ["Coded", "Inbound", "Keyword", "end_parts", "keyword_of", "store"]
