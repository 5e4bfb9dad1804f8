"""SMPP 3.4 on the wire: numbers, PDUs and alphabets, as pure functions for the driver and for the simulated SMSC."""
