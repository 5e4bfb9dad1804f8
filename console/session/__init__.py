"""Who is signed in, for which account, and the API on their behalf."""
