"""Checks of an installation, each with a remedy; what `bulksms doctor` shows."""
