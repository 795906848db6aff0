"""A model or a benchmark as one HTML page."""
