"""The SMPP 3.4 server for customers: `python -m api.smpp`. `session.py` speaks, `submits.py` accepts, `deliveries.py`
brings receipts and messages from phones."""
