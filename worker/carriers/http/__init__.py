"""The driver for HTTP carriers, each declared in CARRIERS_FILE (shared/carriers/http).

orders           builds requests from messages      responses  turns a response into outcomes
transport        sends one request                  driver     the `Carrier`: submit, open, close
request_threads  wait for responses                 polling    fetches receipts
"""

from worker.carriers.http.driver import HttpCarrier

__all__ = ["HttpCarrier"]
