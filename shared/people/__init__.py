"""People who sign in: passwords, TOTP, sessions, links, invitations, and roles in accounts."""
