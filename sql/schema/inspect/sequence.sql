SELECT :sequence
