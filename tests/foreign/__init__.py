"""What other tools write, written by them anew: `make foreign`. Figures are held against those that they printed."""
