"""The encoder-decoder with soft attention."""
