"""The lab: networks, their training, and the papers' studies. It writes runs; no question imports it."""
