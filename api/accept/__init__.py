"""Accept a send: validate, price, reserve and enqueue it. Start with `accept.py`."""
