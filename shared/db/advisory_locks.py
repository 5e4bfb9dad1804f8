"""The numbers of Postgres's advisory locks that are for the whole installation.

Locks of an account, a phone or a key have the hash of a name instead.
"""

MIGRATION = 7_305_241
"""Held by the process that migrates."""
USAGE = 7_305_242
"""Held by the worker that counts usage."""
RETENTION = 7_305_243
"""Held by whoever forgets sends, or moves their messages."""
ARCHIVE = 7_305_244
"""Held by the command that archives, restores or rewrites weeks."""
STATEMENTS = 7_305_245
"""Held by the worker that continues a statement."""
