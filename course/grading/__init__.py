"""Grading of notebooks.

collect   what was handed in: files, names, dates; repair puts the answers into a clean copy
absent    what isn't there while a question is judged
run       a sandbox for each submission; `inside` is all of ours that runs there
judge     the tests, in a process of their own that asks the sandbox for values and compares them
report    the gradebook, feedback pages, tables and the summary

course/grade.py is the command; book/grading.md tells how to use it.
"""

import sys

sys.modules["rfc3987_syntax"] = None  # a format checker that jsonschema can do without: 1 s a start
