"""What carriers over HTTP post to us."""
