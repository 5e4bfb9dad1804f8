"""What messages brought, and what they cost."""
