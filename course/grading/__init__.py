"""Grading of notebooks.

In the order of the work:

course      one run of the grading, from the files to the points
collect     which files were handed in, whose they are, and whether they're notebooks
repair      puts a student's answers into a clean copy of the assignment
clean       makes harmless what a student wrote, so that it can't act in a browser or a terminal
absent      makes the packages in which the forbidden functions don't exist
judge       runs the tests of one submission, in a process of its own, and compares the values
messenger   stands for a student's function in the tests, and asks the sandbox for its values
run         starts a sandbox, talks to it, and ends it when it takes too much
sandbox     what a sandbox shows and allows
inside      the only code of ours that runs in the sandbox, next to the student's
gradebook   hands the points to nbgrader
report      writes the table, the summary and the feedback pages

course/grade.py is the command. book/grading.md explains how to use it.
"""

import sys

sys.modules["rfc3987_syntax"] = None  # a format checker that jsonschema can do without: 1 s a start
