"""One-time passwords: codes that are sent to phones and checked."""
