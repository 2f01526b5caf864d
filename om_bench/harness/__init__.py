"""What every measurement stands on: recorded talks, the pipeline, the page and its pictures."""
