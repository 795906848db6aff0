"""Models to strings."""
