"""The question of leakage: how much of the label can be read from a part of the input?

Empty, so that reading a question's figures loads none of its measures.
"""
