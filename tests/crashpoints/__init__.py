"""Every crash point in the code, killed, stopped and made to raise, in real processes."""
