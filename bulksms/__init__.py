"""The operator's command line and the local runner. They stand above the API and the workers; nothing imports them."""
