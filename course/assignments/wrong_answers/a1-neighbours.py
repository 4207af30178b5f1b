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
        "why": "returns a flat array instead of a column",
        "grade_id": "on-axis",
        "source": """
def on_axis(X, degrees):
    return X @ [np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]
""",
        "loses": ["test-on-axis"],
        "message": "(3, 1) is asked for",
    },
    {
        "why": "loses the sign of the cosine beyond 90 degrees",
        "grade_id": "on-axis",
        "source": """
def on_axis(X, degrees):
    theta = np.radians(degrees)
    return X @ np.abs([[np.cos(theta)], [np.sin(theta)]])
""",
        "loses": ["test-on-axis"],
        "message": "the right signs on both",
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
        "why": "searches all classes",
        "grade_id": "nearest",
        "source": """
def nearest(Y, y, K):
    squared = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    indices = np.argsort(squared, axis=1, kind="stable")[:, :K]
    return indices, np.take_along_axis(squared, indices, axis=1)
""",
        "loses": ["test-neighbours"],
        "message": "neighbour of another class",
    },
    {
        "why": "returns K + 1 neighbours",
        "grade_id": "nearest",
        "source": """
def nearest(Y, y, K):
    squared = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
    squared[y[:, None] != y] = np.inf
    np.fill_diagonal(squared, np.inf)
    indices = np.argsort(squared, axis=1, kind="stable")[:, : K + 1]
    return indices, np.take_along_axis(squared, indices, axis=1)
""",
        "loses": ["test-neighbours", "test-distances"],
        "message": "K = 2 neighbours each",
    },
    {
        "why": "takes the first of the sorted list for the sample itself",
        "grade_id": "nearest",
        "source": """
def nearest(Y, y, K):
    squared = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
    squared[y[:, None] != y] = np.inf
    indices = np.argsort(squared, axis=1, kind="stable")[:, 1 : K + 1]
    return indices, np.take_along_axis(squared, indices, axis=1)
""",
        "loses": ["test-ties"],
        "message": "another sample lies at the same place",
    },
    {
        "why": "gives ties to the larger row number",
        "grade_id": "nearest",
        "source": """
def nearest(Y, y, K):
    squared = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
    squared[y[:, None] != y] = np.inf
    np.fill_diagonal(squared, np.inf)
    backwards = np.argsort(squared[:, ::-1], axis=1, kind="stable")[:, :K]
    indices = len(Y) - 1 - backwards
    return indices, np.take_along_axis(squared, indices, axis=1)
""",
        "loses": ["test-ties"],
        "message": "a tie",
    },
    {
        "why": "takes the farthest instead of the nearest",
        "grade_id": "nearest",
        "source": """
def nearest(Y, y, K):
    squared = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
    squared[y[:, None] != y] = -np.inf
    np.fill_diagonal(squared, -np.inf)
    indices = np.argsort(-squared, axis=1, kind="stable")[:, :K]
    return indices, np.take_along_axis(squared, indices, axis=1)
""",
        "loses": ["test-neighbours"],
        "message": "Its two nearest, nearest first, are not",
    },
    {
        "why": "takes the nearest row numbers, which passes the visible test",
        "grade_id": "nearest",
        "source": """
def nearest(Y, y, K):
    squared = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
    order = np.abs(np.arange(len(Y))[:, None] - np.arange(len(Y))).astype(float)
    order[y[:, None] != y] = np.inf
    np.fill_diagonal(order, np.inf)
    indices = np.argsort(order, axis=1, kind="stable")[:, :K]
    return indices, np.take_along_axis(squared, indices, axis=1)
""",
        "loses": ["test-neighbours", "test-ties"],
        "message": "farther away than a sample that was left out",
    },
    {
        "why": "calls the module's search",
        "grade_id": "nearest",
        "source": """
def nearest(Y, y, K):
    return neighbours(Y, y, K)
""",
        "loses": ["test-neighbours", "test-distances", "test-ties"],
        "message": "nearest is to be written without slnp_edu and sklearn",
    },
    {
        "why": "compares the lists place by place",
        "grade_id": "replaced",
        "source": """
def replaced(X, y, degrees, K):
    u = np.array([[np.cos(np.radians(degrees))], [np.sin(np.radians(degrees))]])
    return np.mean(neighbours(X, y, K)[0] != neighbours(X @ u, y, K)[0])
""",
        "loses": ["test-replaced"],
        "message": "in any order",
    },
    {
        "why": "returns the share that stays",
        "grade_id": "replaced",
        "source": """
def replaced(X, y, degrees, K):
    u = np.array([[np.cos(np.radians(degrees))], [np.sin(np.radians(degrees))]])
    p, q = neighbours(X, y, K)[0], neighbours(X @ u, y, K)[0]
    return sum(len({*a} & {*b}) for a, b in zip(p, q, strict=True)) / p.size
""",
        "loses": ["test-replaced"],
        "message": "None can be replaced",
    },
    {
        "why": "a constant tuned to the visible test",
        "grade_id": "replaced",
        "source": """
def replaced(X, y, degrees, K):
    return 0.65 if degrees == 90 else 0.0
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
        "why": "forgets to measure from a",
        "grade_id": "angles",
        "source": """
def angles_of_change(a, b, c):
    normals = np.array([c - b, c + b])
    return np.sort(np.degrees(np.arctan2(normals[:, 0], -normals[:, 1])) % 180)
""",
        "loses": ["test-angles"],
        "message": "they must be equally far",
    },
    {
        "why": "searches a grid of angles",
        "grade_id": "angles",
        "source": """
def angles_of_change(a, b, c):
    grid = np.arange(0, 180, 0.01)
    u = np.array([np.cos(np.radians(grid)), np.sin(np.radians(grid))])
    nearer = np.abs((b - a) @ u) < np.abs((c - a) @ u)
    return grid[nearer != np.roll(nearer, 1)]
""",
        "loses": ["test-angles"],
        "message": "they must be equally far",
    },
    {
        "why": "finds only the axis on which b and c fall together",
        "grade_id": "angles",
        "source": """
def angles_of_change(a, b, c):
    n = c - b
    return np.degrees(np.arctan2([n[0]], [-n[1]])) % 180
""",
        "loses": ["test-angles"],
        "message": "two angles are asked for",
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
        "loses": ["test-changes"],
        "message": "does not change",
    },
    {
        "why": "forgets the axes on which two lie on opposite sides",
        "grade_id": "changes",
        "source": """
def changes(X, j):
    from_j = np.delete(X, j, axis=0) - X[j]
    p, q = (from_j[i] for i in np.triu_indices(len(from_j), k=1))
    angles = np.degrees(np.arctan2(q[:, 0] - p[:, 0], p[:, 1] - q[:, 1])) % 180

    def who(degrees):
        t = np.radians(degrees)
        return np.abs(from_j @ [np.cos(t), np.sin(t)]).argmin(axis=0)

    return np.sort(angles[who(angles - 1e-7) != who(angles + 1e-7)])
""",
        "loses": ["test-changes"],
        "message": "there are two",
    },
    {
        "why": "calls the module's search under another name",
        "grade_id": "nearest",
        "source": """
from slnp_edu import steps as tools


def nearest(Y, y, K):
    search = tools.neighbours
    return search(Y, y, K)
""",
        "loses": ["test-neighbours", "test-distances", "test-ties"],
        "message": "it uses slnp_edu.steps.neighbours",
    },
    {
        "why": "hides the module's search in a partial",
        "grade_id": "nearest",
        "source": """
from functools import partial

helper = neighbours
nearest = partial(helper)
""",
        "loses": ["test-neighbours", "test-distances", "test-ties"],
        "message": "it uses slnp_edu.steps.neighbours",
    },
    {
        "why": "hides the module's search in a text",
        "grade_id": "nearest",
        "source": """
def nearest(Y, y, K):
    return eval('neigh' + 'bours')(Y, y, K)
""",
        "loses": ["test-neighbours", "test-distances", "test-ties"],
        "message": "Nobody can see that it is: there is eval",
    },
    {
        "why": "lets scikit-learn search",
        "grade_id": "nearest",
        "source": """
def nearest(Y, y, K):
    from sklearn.neighbors import NearestNeighbors

    indices, distances = np.zeros((2, len(Y), K))
    for c in np.unique(y):
        rows = np.flatnonzero(y == c)
        found = NearestNeighbors(n_neighbors=K).fit(Y[rows]).kneighbors()
        indices[rows], distances[rows] = rows[found[1]], found[0] ** 2
    return indices.astype(int), distances
""",
        "loses": ["test-neighbours", "test-distances", "test-ties"],
        "message": "it uses sklearn.neighbors.NearestNeighbors",
    },
]
