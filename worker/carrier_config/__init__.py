"""Reads CARRIERS_FILE."""
