"""HAEM: hard attention over edit actions."""
