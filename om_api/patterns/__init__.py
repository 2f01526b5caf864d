"""Regular expressions over text that anybody may have written, matched in time linear in the text."""
