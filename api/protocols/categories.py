"""The category of a send by the priority of its protocol."""

from typing import Final

from shared.lifecycle import Category

CATEGORIES: Final = (None, Category.MARKETING, None, Category.AUTHENTICATION)
"""By priority_flag (SMPP 3.4 §5.2.14), and Kannel's `priority`, which is passed on as one; None: the default. 0 is what
clients send that do not set one."""
