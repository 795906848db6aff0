"""Building blocks of the systems, each for all models of a fleet at once."""
