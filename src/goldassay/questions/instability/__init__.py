"""The question of instability: would the score come out the same with another seed?

Empty, so that reading a question's figures loads none of its measures.
"""
