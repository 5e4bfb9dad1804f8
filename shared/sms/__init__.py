"""The SMS itself: alphabets, segments, phone numbers, countries."""
