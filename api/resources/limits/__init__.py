"""The limits of the service and the account."""
