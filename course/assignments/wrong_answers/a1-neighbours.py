"""Plausible wrong answers to assignment 1: what each loses, and what it is told."""

WRONG = [
    {
        "why": "takes degrees for radians",
        "grade_id": "on-axis",
        "source": """
def on_axis(X, degrees):
    return X @ np.array([[np.cos(degrees)], [np.sin(degrees)]])
""",
        "loses": ["test-on-axis"],
        "message": "Is the angle taken in degrees?",
    },
    {
        "why": "forgets to leave out the sample itself",
        "grade_id": "nearest",
        "source": """
def nearest(Y, y, K):
    squared = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
    squared[y[:, None] != y] = np.inf
    indices = np.argsort(squared, axis=1, kind="stable")[:, :K]
    return indices, np.take_along_axis(squared, indices, axis=1)
""",
        "loses": ["test-neighbours", "test-ties"],
        "message": "is its own neighbour",
    },
    {
        "why": "does not square the distances",
        "grade_id": "nearest",
        "source": """
def nearest(Y, y, K):
    plain = np.linalg.norm(Y[:, None] - Y[None], axis=2)
    plain[y[:, None] != y] = np.inf
    np.fill_diagonal(plain, np.inf)
    indices = np.argsort(plain, axis=1, kind="stable")[:, :K]
    return indices, np.take_along_axis(plain, indices, axis=1)
""",
        "loses": ["test-distances"],
        "message": "plain distances",
    },
    {
        "why": "compares the lists place by place",
        "grade_id": "replaced",
        "source": """
def replaced(X, y, first, second, K):
    before, after = (neighbours(on_axis(X, t), y, K)[0] for t in (first, second))
    return np.mean(before != after)
""",
        "loses": ["test-replaced"],
        "message": "in any order",
    },
    {
        "why": "a constant tuned to the visible test",
        "grade_id": "replaced",
        "source": """
def replaced(X, y, first, second, K):
    return 0.68 if second == 90 else 0.0
""",
        "loses": ["test-replaced"],
        "message": "Other fish",
    },
    {
        "why": "a constant tuned to the visible test",
        "grade_id": "angles",
        "source": """
def angles_of_change(a, b, c):
    return np.degrees([np.arctan(2), np.pi - np.arctan(2)])
""",
        "loses": ["test-angles"],
        "message": "three other points",
    },
    {
        "why": "keeps the angles of all pairs",
        "grade_id": "changes",
        "source": """
def changes(X, j):
    from_j = np.delete(X, j, axis=0) - X[j]
    p, q = (from_j[i] for i in np.triu_indices(len(from_j), k=1))
    normals = np.concatenate([q - p, q + p])
    return np.sort(np.degrees(np.arctan2(normals[:, 0], -normals[:, 1])) % 180)
""",
        "loses": ["test-changes", "test-complete"],
        "message": "does not change",
    },
    {
        "why": "a table of two rows with every tenth of a degree",
        "grade_id": "changes",
        "source": """
def changes(X, j):
    return np.tile(np.arange(0, 180, 0.1), (2, 1))
""",
        "loses": ["test-changes", "test-complete"],
        "message": "not shape (2, 1800)",
    },
    {
        "why": "the first and the last candidate aren't compared",
        "grade_id": "changes",
        "source": """
def changes(X, j):
    from_j = np.delete(X, j, axis=0) - X[j]
    p, q = (from_j[i] for i in np.triu_indices(len(from_j), k=1))
    normals = np.concatenate([q - p, q + p])
    angles = np.sort(np.degrees(np.arctan2(normals[:, 0], -normals[:, 1])) % 180)
    middle = np.radians((angles[1:] + angles[:-1]) / 2)
    after = np.abs(from_j @ [np.cos(middle), np.sin(middle)]).argmin(axis=0)
    return angles[1:-1][after[1:] != after[:-1]]
""",
        "loses": ["test-complete"],
        "message": "across 180 degrees?",
    },
]
