"""Settings of nbgrader for this course; tools/assignments.py and tools/grade.py read them too."""

c = get_config()  # noqa: F821 (nbgrader defines it)

c.CourseDirectory.course_id = "slnp"
c.ClearSolutions.code_stub = {"python": 'raise NotImplementedError("Write your answer here.")'}
c.ClearSolutions.text_stub = "Write your answer here."
c.Execute.timeout = 30  # seconds a cell
