"""Examples of helpers that users do not call.

>>> from mercer.io.types import READ
>>> READ["category"](True), READ["category"]("TRUE"), READ["number"]("1e3")
('true', 'true', 1000.0)
"""
