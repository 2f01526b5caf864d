"""What all pages are made of: who looks, which memory is read, how it is written, and what is heard while a page is open."""
