"""The driver of carriers over HTTP, each of them declared (shared/carriers/http).

orders     messages as requests           answers    an answer as outcomes
transport  one request, and what left     driver     the `Carrier`: submit, open, close
polling    receipts that are fetched
"""

from worker.carriers.http.driver import HttpCarrier

__all__ = ["HttpCarrier"]
