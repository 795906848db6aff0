"""The trained thing users ask, its file, and how one is trained."""
