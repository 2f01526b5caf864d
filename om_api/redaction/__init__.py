"""What nobody else may read: found in text, replaced by placeholders, and put back for whoever has the key. Pure."""
