"""The Excel workbook: cells laid out on sheets, and the file itself."""
