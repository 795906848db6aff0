"""The pocket models of reinflect: a file and a card for each language, and an index; there is no code here."""
