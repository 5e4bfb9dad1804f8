"""The SMPP 3.4 client driver.

config     what is told of a carrier          driver      the `Carrier`: submit, open, close
parts      a text as the octets of its parts  submission  one call of submit: its PDUs and its outcomes
session    one connection's life              link        connects, binds, and connects again
receipt    what a deliver_sm says             deliveries  the thread that stores receipts, then answers
longs      receipts of messages in parts      status      what a carrier's codes mean
"""

from worker.carriers.smpp.config import SmppConfig
from worker.carriers.smpp.driver import SmppCarrier

__all__ = ["SmppCarrier", "SmppConfig"]
