"""What the systems are made of, each piece for all models of a fleet at once."""
