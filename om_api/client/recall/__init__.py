"""What was found, as it is shown: hits in their surroundings, with the index and the notes they come from. For the client."""
