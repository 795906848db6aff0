"""Packs of models: packed, trained in this process, in others or on a Dask cluster, and kept in a store."""
