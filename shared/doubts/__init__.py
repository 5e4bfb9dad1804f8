"""Messages in doubt: which message a piece of evidence is about, and how doubts are resolved."""
