"""The page of `reinflect serve`, and the JSON interface beneath it."""
