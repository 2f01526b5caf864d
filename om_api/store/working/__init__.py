"""Working memories: fields that Actors and people keep, changed by a script of their own. For clients."""
