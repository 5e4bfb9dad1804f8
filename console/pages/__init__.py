"""What every page is made of: forms, errors, numbers, languages, menus."""
