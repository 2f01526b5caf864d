"""The endpoints, a module for each noun; `app.py` has the list."""
