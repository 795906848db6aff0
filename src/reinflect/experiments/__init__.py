"""Many languages at once: the paper's grid and tables, and comparisons of settings."""
