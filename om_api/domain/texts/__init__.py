"""Texts that come from outside, made fit to be stored."""
