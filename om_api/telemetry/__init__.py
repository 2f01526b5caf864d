"""Traces and figures for OpenTelemetry: the only room that knows its SDK, which nobody imports unless it is on."""
