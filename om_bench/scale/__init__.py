"""Scale: what everything costs in a store of a million agents, beside a store of a thousand."""
