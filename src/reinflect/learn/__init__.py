"""Many models at once: what trains together, the epochs, early stopping, checkpoints."""
