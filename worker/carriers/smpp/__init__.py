"""The SMPP 3.4 client driver.

config     a carrier's settings           driver      the `Carrier`: submit, open, close
parts      cuts a text into encoded parts submission  one call of submit: its PDUs and its outcomes
session    one connection                 link        connects, binds and reconnects
receipt    parses a deliver_sm            deliveries  stores deliveries, then acknowledges them
multipart  receipts of multipart messages status    the meaning of each command_status
"""

from worker.carriers.smpp.config import SmppConfig
from worker.carriers.smpp.driver import SmppCarrier

__all__ = ["SmppCarrier", "SmppConfig"]
