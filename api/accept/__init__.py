"""The accepting of a send: checked, priced, reserved and enqueued. Begin with `accept.py`."""
