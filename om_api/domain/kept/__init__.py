"""What is kept beside the notes: values of extractors, fields of working memories, titles of threads. Pure."""
