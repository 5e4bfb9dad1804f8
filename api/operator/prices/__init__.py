"""Price lists: their versions, and the accounts that have them."""
