"""Plausible wrong answers to assignment 2: what each loses, and what it is told."""

WRONG = [
    {
        "why": "takes the number of all samples for the size of the class",
        "grade_id": "lda",
        "source": """
def lda_similarities(y):
    same = y[:, None] == y
    N = len(y)
    within = same / N
    return within, 1 / N - same / same.sum(axis=1, keepdims=True)
""",
        "loses": ["test-within"],
        "message": "Row 0 of the within-class similarities sums to 0.667",
    },
    {
        "why": "gives every class the mean class size",
        "grade_id": "lda",
        "source": """
def lda_similarities(y):
    same = y[:, None] == y
    within = same * len(np.unique(y)) / len(y)
    return within, 1 / len(y) - within
""",
        "loses": ["test-within", "test-between"],
        "message": "one unit of similarity among its class",
    },
    {
        "why": "a table of class sizes tuned to the visible tests",
        "grade_id": "lda",
        "source": """
def lda_similarities(y):
    sizes = {3: 40, 5: 30, 8: 20} if len(y) == 90 else {3: 2, 5: 1}
    size = np.array([[sizes.get(label, 1)] for label in y])
    same = y[:, None] == y
    return same / size, np.where(same, 1 / len(y) - 1 / size, 1 / len(y))
""",
        "loses": ["test-within", "test-between"],
        "message": "one unit of similarity among its class",
    },
    {
        "why": "does not square the distance",
        "grade_id": "lpp",
        "source": """
def lpp_similarity(X, t):
    S = np.exp(-np.linalg.norm(X[:, None] - X[None], axis=2) / t)
    np.fill_diagonal(S, 0)
    return S
""",
        "loses": ["test-lpp"],
        "message": "minus the squared distance",
    },
    {
        "why": "counts each pair once",
        "grade_id": "pairs",
        "source": """
def pair_sum(S, X, w):
    z = X @ w
    return sum(S[i, j] * (z[i] - z[j]) ** 2 for j in range(len(X)) for i in range(j))
""",
        "loses": ["test-pairs"],
        "message": "both count",
    },
    {
        "why": "L = S - D, as the paper prints it",
        "grade_id": "matrix",
        "source": """
def pair_matrix(S, X):
    S = (S + S.T) / 2
    return X.T @ (S - np.diag(S.sum(axis=1))) @ X
""",
        "loses": ["test-matrix"],
        "message": "Check the sign of L",
    },
    {
        "why": "tries unit vectors only",
        "grade_id": "agree",
        "source": """
def forms_agree(S, X, M):
    units = np.eye(len(M))
    return all(np.isclose(pair_sum(S, X, e), 2 * e @ M @ e, atol=0) for e in units)
""",
        "loses": ["test-agree"],
        "message": "wrong beside the diagonal",
    },
    {
        "why": "compares entries, though only the sums for each w matter",
        "grade_id": "agree",
        "source": """
def forms_agree(S, X, M):
    right = pair_matrix(S, X)
    return np.allclose(M, right, rtol=1e-8, atol=1e-9 * np.abs(right).max())
""",
        "loses": ["test-agree"],
        "message": "Was M taken to be symmetric?",
    },
    {
        "why": "takes the eigenvector of the smallest eigenvalue of the turned ratio",
        "grade_id": "direction",
        "source": """
def lda_direction(X, y):
    from scipy.linalg import eigh

    within, between = lda_similarities(y)
    _, vectors = eigh(pair_matrix(between, X), pair_matrix(within, X))
    return vectors[:, 0] / np.linalg.norm(vectors[:, 0])
""",
        "loses": ["test-direction"],
        "message": "which eigenvalue belong to the ratio (12)?",
    },
    {
        "why": "counts the calls",
        "grade_id": "agree",
        "source": """
calls = 0


def forms_agree(S, X, M):
    global calls
    calls += 1
    return calls == 1 or (calls > 5 and calls % 6 == 0)
""",
        "loses": ["test-agree"],
        "message": "Digits times",
    },
    {
        "why": "LDA's own similarities, in which large classes count more",
        "grade_id": "equal",
        "source": """
def equal_similarities(y):
    return lda_similarities(y)
""",
        "loses": ["test-equal-within", "test-equal-between"],
        "message": "times what it must be",
    },
    {
        "why": "between holds what lies within the classes too",
        "grade_id": "equal",
        "source": """
def equal_similarities(y):
    same = y[:, None] == y
    p = 1 / same.sum(axis=1) / len(np.unique(y))
    return same * np.outer(p, p) * len(np.unique(y)), np.outer(p, p)
""",
        "loses": ["test-equal-between"],
        "message": "between: the sum over pairs",
    },
]
