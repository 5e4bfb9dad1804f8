"""SMPP 3.4 encoding: constants, PDUs and alphabets, for the driver and the simulated SMSC."""
