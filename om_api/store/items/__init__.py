"""Items that agents keep by namespace and key, beside their memories and apart from them; integrations enter."""
