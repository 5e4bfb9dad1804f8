"""How much of the process one session, account or stranger may use."""
