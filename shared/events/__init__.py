"""Events as webhooks and pullers get them."""
