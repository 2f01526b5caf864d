"""Every adapter against the real, newest package of its framework, with a fake model: `make adapters`."""
