"""Regular expressions over untrusted text, matched in linear time."""
