"""The question of leakage: how much of the label can be read from a part of the input?"""
