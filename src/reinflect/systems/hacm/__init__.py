"""HACM: hard attention with a copy mixture."""
