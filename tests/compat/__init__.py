"""The client installed beside agent frameworks, the newest versions that the package index has, and used there."""
