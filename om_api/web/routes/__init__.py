"""The pages, a module for each: what it reads through the public client, and which template shows it."""
