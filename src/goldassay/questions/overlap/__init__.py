"""Did the test set stand in the training data?"""
