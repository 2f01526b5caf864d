"""One module a version of the schema, with what it does to each kind of database in a file of SQL beside it."""
