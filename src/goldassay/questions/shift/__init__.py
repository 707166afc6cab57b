"""The question of shift: does the score hold on another distribution?

Empty, so that reading a question's figures loads none of its measures.
"""
