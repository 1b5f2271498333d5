"""Importers: one format of measured values a file; all give the same record."""
