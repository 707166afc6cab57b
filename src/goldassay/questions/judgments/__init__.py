"""Does the judge prefer a seat?"""
