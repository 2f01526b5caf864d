"""The sections of the settings that are more than a few fields, a module each."""
