"""How long the end of a server process may take. The supervisor needs to know, and loads nothing of the application."""

END_SECONDS = 20.0
"""How long open requests may take after the server is told to stop."""
KILL_SECONDS = END_SECONDS + 10
"""How long a process may take to stop before it is killed."""
