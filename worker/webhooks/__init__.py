"""Posts events to webhooks: a process of its own, `python -m worker.webhooks`, that sending never waits for."""
