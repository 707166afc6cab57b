"""Training: models on datasets, into runs. Nothing here imports torch before something is trained."""
