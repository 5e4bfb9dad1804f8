"""How much of the process one session or account may use."""
