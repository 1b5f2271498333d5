"""memsheet: how much GPU memory a training job needs, as a live workbook, a report and Python."""

# Nothing is imported here: `memsheet --help` must not wait for sympy.
__version__ = "0.1.0"
