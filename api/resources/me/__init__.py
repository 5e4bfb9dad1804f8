"""The person who is signed in: her name, password, second factor, sessions and tokens."""
