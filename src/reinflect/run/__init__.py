"""Packs of models, trained in this process, in others, or on a Dask cluster."""
