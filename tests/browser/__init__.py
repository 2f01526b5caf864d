"""The pages under /ui in a real browser: `make pages`. Chromium comes from the system's packages."""
