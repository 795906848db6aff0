"""The paper's published figures, claims, tables and plots."""
