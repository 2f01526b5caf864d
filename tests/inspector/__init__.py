"""The inspector of the protocol's makers, run by its command line against both doors of the memory: `make inspector`."""
