"""Printers: one module a target. Each prints a cell's expression; none knows a formula's name."""
