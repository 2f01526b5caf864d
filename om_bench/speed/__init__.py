"""Speed beside a reference: each room measures one kind of work, and its reference in the same run."""
