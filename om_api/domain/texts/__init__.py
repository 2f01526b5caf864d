"""Texts that come from outside, made fit to be stored: lone surrogates, and names that are no ids."""
