"""Makes the generated files of the clients: `python -m clients.making`, or `make clients`."""
