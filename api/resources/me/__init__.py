"""The person who is signed in: their name, password, second factor, sessions and tokens."""
