"""The comparison of models on the same examples: which is better?

Empty, so that reading a question's figures loads none of its measures.
"""
