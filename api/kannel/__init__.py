"""Kannel's API for sending, `/cgi-bin/sendsms`, for software that was written for Kannel."""
