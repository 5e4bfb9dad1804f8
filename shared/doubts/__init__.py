"""Messages in doubt: whom evidence is about, and how they are resolved."""
