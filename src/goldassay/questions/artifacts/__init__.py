"""The question of artifacts: which surface patterns give the label away?

Empty, so that reading a question's figures loads none of its measures.
"""
