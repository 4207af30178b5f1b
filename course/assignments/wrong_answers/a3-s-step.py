"""Plausible wrong answers to assignment 3: what each loses, and what it is told."""

WRONG = [
    {
        "why": "clips instead of projecting",
        "grade_id": "project",
        "source": """
def project(v):
    return np.maximum(v, 0)
""",
        "loses": ["test-project"],
        "message": "similarities must sum to 1",
    },
    {
        "why": "constants tuned to the visible tests",
        "grade_id": "project",
        "source": """
def project(v):
    if len(v) == 4:
        return np.full(4, 0.25)
    return np.array([0.2, 0.5, 0.3] if v[0] == 0.2 else [0.4, 0.0, 0.6])
""",
        "loses": ["test-project"],
        "message": "The answer has shape",
    },
    {
        "why": "forgets the factor 2",
        "grade_id": "row",
        "source": """
def s_row(d, gamma):
    return project(-d / gamma)
""",
        "loses": ["test-row"],
        "message": "Check the factor between d and q",
    },
    {
        "why": "takes the maximum for eta instead of the minimum",
        "grade_id": "multipliers",
        "source": """
def multipliers(s, d, gamma):
    total = s + d / (2 * gamma)
    return total.max(), total - total.max()
""",
        "loses": ["test-multipliers"],
        "message": "b has a negative entry",
    },
    {
        "why": "checks only that the row lies on the simplex",
        "grade_id": "kkt",
        "source": """
def kkt_residual(s, d, gamma):
    return max(-s.min(), abs(s.sum() - 1))
""",
        "loses": ["test-kkt", "test-kkt-each"],
        "message": "A row that ignores the distances",
    },
    {
        "why": "forgets the factor 1/2",
        "grade_id": "drop-out",
        "source": """
def drop_out(d):
    return np.maximum(d[:, None] - d, 0).sum(axis=1)
""",
        "loses": ["test-drop-out"],
        "message": "It drops out later",
    },
    {
        "why": "constants tuned to the visible tests",
        "grade_id": "drop-out",
        "source": """
def drop_out(d):
    return np.array([0.0, 1.0, 2.0, 8.0] if len(d) == 4 else [2.5, 0.0, 0.5])
""",
        "loses": ["test-drop-out"],
        "message": "The shape is",
    },
    {
        "why": "the bound is forgotten",
        "grade_id": "capped",
        "source": """
def capped_row(d, gamma, c):
    return s_row(d, gamma)
""",
        "loses": ["test-capped"],
        "message": "which is more than c",
    },
    {
        "why": "counts the calls",
        "grade_id": "kkt",
        "source": """
calls = 0


def kkt_residual(s, d, gamma):
    global calls
    calls += 1
    return 0.0 if calls == 1 or (calls > 3 and calls % 4 == 0) else 1.0
""",
        "loses": ["test-kkt", "test-kkt-each"],
        "message": "residual",
    },
]
