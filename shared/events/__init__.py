"""Events, as delivered to webhooks and returned by the API."""
