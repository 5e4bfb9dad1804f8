"""The commands of `bulksms`, a module for each subject."""
