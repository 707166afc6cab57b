"""The papers' experiments, each from one command: ours beside the printed, and whether the conclusions hold.

A study is one package of this room, and is found by itself: it declares its sizes (which sets, which networks, how many
seeds), and says what is measured of the runs that come of it. Training, resuming and the page are the same for all.
"""
