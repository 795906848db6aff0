"""The page of `reinflect serve`, and its JSON interface."""
