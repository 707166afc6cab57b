"""Was every answer scored, and by which rule?"""
