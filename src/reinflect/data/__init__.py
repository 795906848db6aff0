"""What the user gives us: items, their features, the data sets we know."""
