"""nbgrader's settings for this course; make assignments and make grade read them."""

c = get_config()  # noqa: F821 (nbgrader defines it)

c.CourseDirectory.course_id = "slnp"
stub = 'raise NotImplementedError("Write your answer here.")'
c.ClearSolutions.code_stub = {"python": stub}
c.ClearSolutions.text_stub = "Write your answer here."
c.Execute.timeout = 30  # seconds a cell
