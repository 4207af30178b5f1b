"""Grading of notebooks, in four rooms.

collect  what was handed in: files, names, dates, the answers in a clean copy of the assignment
run      a sandbox for each submission; `inside` is all of ours that runs there
judge    the tests, in a process of their own that asks the sandbox for values and compares them
report   the gradebook, feedback pages, tables and the summary

course/grade.py is the command; book/grading.md tells how to use it.
"""

import sys

sys.modules["rfc3987_syntax"] = None  # a format checker that jsonschema can do without: 1 s a start
