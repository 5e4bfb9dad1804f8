"""What the SMPP server and Kannel's API share: their logins, and the fields and texts of a submit."""
