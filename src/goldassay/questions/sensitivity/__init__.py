"""The question of sensitivity: would the score come out the same if the model were asked otherwise?"""
