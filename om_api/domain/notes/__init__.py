"""Notes as people change them: lines that are pinned, lines that are corrected, what changed from one text to another."""
