"""What people write into a memory and decide themselves: lines, pins, reviews, and the working memory, which Actors keep too."""
