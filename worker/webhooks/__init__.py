"""Posts events to webhooks, in separate processes (`python -m worker.webhooks`) that sending never waits for."""
