"""Events, pulled in order."""
