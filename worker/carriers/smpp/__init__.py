"""The SMPP 3.4 client driver.

config          a carrier's settings           driver      the `Carrier`: submit, open, close
parts           cuts a text into encoded parts submission  one call of submit: its PDUs and its outcomes
submit_encoder  the octets of a submit_sm      window      how many PDUs may be outstanding
session         one connection: sends, reads   link        connects, binds and reconnects
writer, wire    octets to and from the socket  status      the meaning of each command_status
receipt         parses a deliver_sm            deliveries  stores deliveries, then acknowledges them
multipart       receipts of multipart messages ids         the forms of a message id in receipts
counters        the counters of `/metrics`
"""

from worker.carriers.smpp.config import SmppConfig
from worker.carriers.smpp.driver import SmppCarrier

__all__ = ["SmppCarrier", "SmppConfig"]
