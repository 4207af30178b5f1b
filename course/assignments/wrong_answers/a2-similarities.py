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
        "why": "puts 0 inside a class in the between-class similarity",
        "grade_id": "lda",
        "source": """
def lda_similarities(y):
    same = y[:, None] == y
    within = same / same.sum(axis=1, keepdims=True)
    return within, np.where(same, 0, 1 / len(y))
""",
        "loses": ["test-between"],
        "message": "sign of the first case of (11)",
    },
    {
        "why": "turns the sign of (11) inside a class",
        "grade_id": "lda",
        "source": """
def lda_similarities(y):
    same = y[:, None] == y
    size = same.sum(axis=1, keepdims=True)
    between = np.where(same, 1 / size - 1 / len(y), 1 / len(y))
    return same / size, between
""",
        "loses": ["test-between"],
        "message": "sign of the first case of (11)",
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
        "why": "lets a sample be similar to itself",
        "grade_id": "lpp",
        "source": """
def lpp_similarity(X, t):
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / t)
""",
        "loses": ["test-lpp"],
        "message": "with itself; it must be 0",
    },
    {
        "why": "uses the other convention for the width",
        "grade_id": "lpp",
        "source": """
def lpp_similarity(X, t):
    S = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * t**2))
    np.fill_diagonal(S, 0)
    return S
""",
        "loses": ["test-lpp"],
        "message": "divided by t",
    },
    {
        "why": "sums over the wrong axis",
        "grade_id": "lpp",
        "source": """
def lpp_similarity(X, t):
    S = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=1) / t)
    np.fill_diagonal(S, 0)
    return S
""",
        "loses": ["test-lpp"],
        "message": "The shape is",
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
        "why": "forgets the square",
        "grade_id": "pairs",
        "source": """
def pair_sum(S, X, w):
    z = X @ w
    return np.sum(S * np.abs(z[:, None] - z))
""",
        "loses": ["test-pairs"],
        "message": "Is the difference squared?",
    },
    {
        "why": "measures the distance before the projection",
        "grade_id": "pairs",
        "source": """
def pair_sum(S, X, w):
    return np.sum(S * ((X[:, None] - X[None]) ** 2).sum(axis=2))
""",
        "loses": ["test-pairs"],
        "message": "19 other digits",
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
        "why": "does not symmetrise S",
        "grade_id": "matrix",
        "source": """
def pair_matrix(S, X):
    return X.T @ (np.diag(S.sum(axis=1)) - S) @ X
""",
        "loses": ["test-matrix"],
        "message": "Was S made symmetric",
    },
    {
        "why": "symmetrises S beside the diagonal only",
        "grade_id": "matrix",
        "source": """
def pair_matrix(S, X):
    return X.T @ (np.diag(S.sum(axis=1)) - (S + S.T) / 2) @ X
""",
        "loses": ["test-matrix"],
        "message": "check the diagonal of L",
    },
    {
        "why": "puts the factor 2 into the matrix",
        "grade_id": "matrix",
        "source": """
def pair_matrix(S, X):
    S = S + S.T
    return X.T @ (np.diag(S.sum(axis=1)) - S) @ X
""",
        "loses": ["test-matrix"],
        "message": "2 w'Mw with w = 1 is 56",
    },
    {
        "why": "forgets D",
        "grade_id": "matrix",
        "source": """
def pair_matrix(S, X):
    return X.T @ (S + S.T) @ X / 2
""",
        "loses": ["test-matrix"],
        "message": "check the diagonal of L",
    },
    {
        "why": "tries unit vectors only",
        "grade_id": "agree",
        "source": """
def forms_agree(f, M):
    return all(np.isclose(f(e), 2 * e @ M @ e, atol=0) for e in np.eye(len(M)))
""",
        "loses": ["test-agree"],
        "message": "wrong beside the diagonal",
    },
    {
        "why": "uses a tolerance that depends on the units",
        "grade_id": "agree",
        "source": """
def forms_agree(f, M):
    draws = np.random.default_rng(1).normal(size=(20, len(M)))
    return all(np.isclose(f(w), 2 * w @ M @ w) for w in draws)
""",
        "loses": ["test-agree"],
        "message": "Does its tolerance depend on the units?",
    },
    {
        "why": "asks for equality to the last digit",
        "grade_id": "agree",
        "source": """
def forms_agree(f, M):
    draws = np.random.default_rng(1).integers(-9, 9, size=(20, len(M)))
    return all(f(w) == 2 * w @ M @ w for w in draws)
""",
        "loses": ["test-agree"],
        "message": "equal up to rounding",
    },
    {
        "why": "always says True",
        "grade_id": "agree",
        "source": """
def forms_agree(f, M):
    return True
""",
        "loses": ["test-agree"],
        "message": "The test accepts",
    },
    {
        "why": "forgets the factor 2",
        "grade_id": "agree",
        "source": """
def forms_agree(f, M):
    draws = np.random.default_rng(1).normal(size=(20, len(M)))
    return all(np.isclose(f(w), w @ M @ w, atol=0) for w in draws)
""",
        "loses": ["test-agree"],
        "message": "the answer was False",
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
        "why": "leaves out the within-class matrix",
        "grade_id": "direction",
        "source": """
def lda_direction(X, y):
    _, vectors = np.linalg.eigh(pair_matrix(lda_similarities(y)[1], X))
    return vectors[:, -1]
""",
        "loses": ["test-direction"],
        "message": "degrees away from that of scikit-learn's LDA",
    },
    {
        "why": "does not scale the direction to length 1",
        "grade_id": "direction",
        "source": """
def lda_direction(X, y):
    from scipy.linalg import eigh

    within, between = lda_similarities(y)
    return eigh(pair_matrix(between, X), pair_matrix(within, X))[1][:, -1]
""",
        "loses": ["test-direction"],
        "message": "w has length",
    },
    {
        "why": "takes a row of the eigenvectors instead of a column",
        "grade_id": "direction",
        "source": """
def lda_direction(X, y):
    from scipy.linalg import eigh

    within, between = lda_similarities(y)
    _, vectors = eigh(pair_matrix(between, X), pair_matrix(within, X))
    return vectors[-1] / np.linalg.norm(vectors[-1])
""",
        "loses": ["test-direction"],
        "message": "degrees away from that of scikit-learn's LDA",
    },
    {
        "why": "calls scikit-learn",
        "grade_id": "direction",
        "source": """
def lda_direction(X, y):
    w = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).scalings_[:, 0]
    return w / np.linalg.norm(w)
""",
        "loses": ["test-direction"],
        "message": "it uses sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    },
    {
        "why": "looks at unit vectors and at one w with equal entries: errors cancel",
        "grade_id": "agree",
        "source": """
def forms_agree(f, M):
    tried = [*np.eye(len(M)), np.ones(len(M))]
    return all(np.isclose(f(w), 2 * w @ M @ w, rtol=1e-8, atol=0) for w in tried)
""",
        "loses": ["test-agree"],
        "message": "whose errors cancel",
    },
    {
        "why": "adds up before it compares: errors cancel",
        "grade_id": "agree",
        "source": """
def forms_agree(f, M):
    corners = np.array([[1, 0], [0, 1], [1, 1]]) @ np.eye(2, len(M))
    tried = [*corners, *np.eye(len(M))]
    total = sum(f(w) for w in tried)
    return bool(np.isclose(total, sum(2 * w @ M @ w for w in tried), atol=0))
""",
        "loses": ["test-agree"],
        "message": "the test accepts",
    },
    {
        "why": "compares the sum of all entries and the trace",
        "grade_id": "agree",
        "source": """
def forms_agree(f, M):
    ones, units = np.ones(len(M)), np.eye(len(M))
    whole = np.isclose(f(ones), 2 * ones @ M @ ones, atol=0)
    return bool(whole and np.isclose(sum(map(f, units)), 2 * np.trace(M), atol=0))
""",
        "loses": ["test-agree"],
        "message": "whose errors cancel",
    },
]
