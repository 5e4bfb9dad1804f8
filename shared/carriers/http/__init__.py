"""A carrier over HTTP as it is declared: what workers ask it, what it answers, and how it calls us.

config             the declaration, checked
file               the http carriers of CARRIERS_FILE
request_templates  texts with {placeholders}
paths              what stands where in JSON
callbacks          receipts and messages it sends
signatures         whether it was the carrier that called
presets/           declarations of well-known carriers
"""

from shared.carriers.http.config import HttpConfig

__all__ = ["HttpConfig"]
