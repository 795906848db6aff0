"""From models to strings."""
