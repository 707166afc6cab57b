"""Facts: what the data are before any question is put to them."""
