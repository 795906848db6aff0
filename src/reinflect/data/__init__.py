"""The user's data: items and their features, spreadsheets, labels, and the known data sets."""
