"""Plausible wrong answers to assignment 5, and what each must lose."""

ALGORITHM = """
def my_slnp(X, y, d, K, rounds):
    same = y[:, None] == y
    S = same / {share}
    X = X - X.mean(axis=0)
    J = []
    for _ in range(rounds):
        T = (S + S.T) / 2
        L = np.diag(T.sum(axis=1)) - T
        W = eigh(X.T @ L @ X, X.T @ X)[1][:, :d]
        indices, distances = neighbours({projected}, y, {K})
        gamma = gamma_step(distances)
        s = s_step(distances, gamma)
        {update} = similarity_matrix(indices, s).toarray()
        J.append(objective(distances, s, gamma))
    return W, {returned}, np.array(J)
"""
RIGHT = {
    "share": "same.sum(axis=1, keepdims=True)",
    "projected": "X @ W",
    "K": "K",
    "update": "S",
    "returned": "S",
}

WRONG = [
    {
        "why": "L = S - D, as printed",
        "grade_id": "laplacian",
        "source": """
def laplacian(S):
    S = (S + S.T) / 2
    return S - np.diag(S.sum(axis=1))
""",
        "loses": ["test-laplacian"],
        "message": "Check the sign",
    },
    {
        "why": "the largest instead of the smallest eigenvectors",
        "grade_id": "w-step",
        "source": """
def my_w_step(X, S, d):
    X = X - X.mean(axis=0)
    S = (S + S.T) / 2
    L = np.diag(S.sum(axis=1)) - S
    return eigh(X.T @ L @ X, X.T @ X)[1][:, -d:]
""",
        "loses": ["test-w-step"],
        "message": "the largest possible one",
    },
    {
        "why": "the start with 1/N in place of 1/N_i",
        "grade_id": "algorithm",
        "source": ALGORITHM.format(**RIGHT | {"share": "len(y)"}),
        "loses": ["test-algorithm"],
        "message": "Round 1 depends on the start",
    },
    {
        "why": "radians",
        "grade_id": "angle",
        "source": """
def largest_angle(W, V):
    return subspace_angles(W, V).max()
""",
        "loses": ["test-angle"],
        "message": "are 30 degrees apart",
    },
    {
        "why": "a case in which J falls",
        "grade_id": "rising",
        "source": """
def rising_case():
    X, y = digits_part(0)
    return X, y, 9, 4
""",
        "loses": ["test-rising"],
        "message": "1.001 or more is needed",
    },
    {
        "why": "the trace without its factor 2",
        "grade_id": "changes",
        "source": """
def step_changes(X, before, after):
    def J(W, S, gamma):
        T = (S + S.T) / 2
        L = np.diag(T.sum(axis=1)) - T
        return np.trace(W.T @ X.T @ L @ X @ W) + np.sum(gamma[:, None] * S**2)

    (W0, S0, g0), (W1, S1, g1) = before, after
    return np.diff([J(W0, S0, g0), J(W1, S0, g0), J(W1, S0, g1), J(W1, S1, g1)])
""",
        "loses": ["test-changes"],
        "message": "Your three changes sum to",
    },
    {
        "why": "the numbers are not used",
        "grade_id": "weighted",
        "source": """
def weighted_w_step(X, S, m, d):
    X = X - X.mean(axis=0)
    S = (S + S.T) / 2
    L = np.diag(S.sum(axis=1)) - S
    return eigh(X.T @ L @ X, X.T @ X)[1][:, :d]
""",
        "loses": ["test-weighted"],
        "message": "with St of the long list",
    },
    {
        "why": "counts the calls",
        "grade_id": "angle",
        "source": """
calls = 0


def largest_angle(W, V):
    global calls
    calls += 1
    return [30, 30, 30, 30, 0, 0, 90, 90, 7.5, 7.5][(calls - 1) % 10]
""",
        "loses": ["test-angle"],
        "message": "degrees apart",
    },
    {
        "why": "the directions are not avoided",
        "grade_id": "avoiding",
        "source": """
def w_step_avoiding(X, S, C, d):
    return my_w_step(X, S, d)
""",
        "loses": ["test-avoiding"],
        "message": "C' W has entries",
    },
    {
        "why": "the directions are removed afterwards",
        "grade_id": "avoiding",
        "source": """
def w_step_avoiding(X, S, C, d):
    Q = np.linalg.qr(C)[0]
    W = my_w_step(X, S, d)
    return W - Q @ (Q.T @ W)
""",
        "loses": ["test-avoiding"],
        "message": "removed after (22) had been met",
    },
    {
        "why": "avoids them, but takes the largest eigenvalues",
        "grade_id": "avoiding",
        "source": """
def w_step_avoiding(X, S, C, d):
    m = C.shape[1]
    N = np.linalg.qr(C, mode="complete")[0][:, m:]
    return N @ my_w_step(X @ N, S, N.shape[1])[:, -d:]
""",
        "loses": ["test-avoiding"],
        "message": "under both constraints",
    },
]
