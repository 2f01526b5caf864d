"""The page at /docs: every endpoint, made of the OpenAPI document, without a script and without another server."""
