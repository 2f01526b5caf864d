"""Notes as people change them: lines that are pinned, lines that are corrected."""
