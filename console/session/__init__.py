"""Who is signed in, for which account, and the API in their name."""
