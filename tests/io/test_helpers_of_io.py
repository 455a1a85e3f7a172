"""Examples of helpers that users do not call.

>>> from mercer.io.text_model import TextModel
>>> TextModel(None, tokens=["output"]).split(["a b"], "output")
[('a', 'b')]
"""
