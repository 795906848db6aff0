"""Trained models together: votes, strategies, confidence."""
