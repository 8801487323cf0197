"""The rules, pure: values in, values out.

Nothing here performs I/O, reads a clock, draws randomness or imports from the rest of `bridge`.
"""
