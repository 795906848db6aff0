"""A model or a benchmark as one page to look at."""
