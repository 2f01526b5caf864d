"""The only room that knows MCP: a memory as the tools, resources and prompt that a model's host offers its model."""
