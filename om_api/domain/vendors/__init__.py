"""Messages as OpenAI, Anthropic and Google write them, turned into ours: at every door alike, and always in the same way."""
