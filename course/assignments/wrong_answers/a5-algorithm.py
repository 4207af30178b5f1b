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
        "why": "an unsymmetrised S",
        "grade_id": "laplacian",
        "source": """
def laplacian(S):
    return np.diag(S.sum(axis=1)) - S
""",
        "loses": ["test-laplacian"],
        "message": "Was S symmetrised?",
    },
    {
        "why": "S symmetrised, but D from the rows of the old S",
        "grade_id": "laplacian",
        "source": """
def laplacian(S):
    return np.diag(S.sum(axis=1)) - (S + S.T) / 2
""",
        "loses": ["test-laplacian"],
        "message": "Which row sums belong in D?",
    },
    {
        "why": "S + S' without the half",
        "grade_id": "laplacian",
        "source": """
def laplacian(S):
    S = S + S.T
    return np.diag(S.sum(axis=1)) - S
""",
        "loses": ["test-laplacian"],
        "message": "2 times too large",
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
        "why": "an ordinary eigenproblem, (57) as printed",
        "grade_id": "w-step",
        "source": """
def my_w_step(X, S, d):
    X = X - X.mean(axis=0)
    S = (S + S.T) / 2
    L = np.diag(S.sum(axis=1)) - S
    return eigh(X.T @ L @ X)[1][:, :d]
""",
        "loses": ["test-w-step"],
        "message": "differs from the identity",
    },
    {
        "why": "samples not centred",
        "grade_id": "w-step",
        "source": """
def my_w_step(X, S, d):
    S = (S + S.T) / 2
    L = np.diag(S.sum(axis=1)) - S
    return eigh(X.T @ L @ X, X.T @ X)[1][:, :d]
""",
        "loses": ["test-w-step"],
        "message": "centred samples",
    },
    {
        "why": "an unsymmetrised S in the W-step: eigh reads one triangle only",
        "grade_id": "w-step",
        "source": """
def my_w_step(X, S, d):
    X = X - X.mean(axis=0)
    L = np.diag(S.sum(axis=1)) - S
    return eigh(X.T @ L @ X, X.T @ X)[1][:, :d]
""",
        "loses": ["test-w-step"],
        "message": "under the same constraint",
    },
    {
        "why": "the start with 1/N in place of 1/N_i",
        "grade_id": "algorithm",
        "source": ALGORITHM.format(**RIGHT | {"share": "len(y)"}),
        "loses": ["test-algorithm"],
        "message": "Round 1 depends on the start",
    },
    {
        "why": "K + 1 neighbours",
        "grade_id": "algorithm",
        "source": ALGORITHM.format(**RIGHT | {"K": "K + 1"}),
        "loses": ["test-algorithm"],
        "message": "the K neighbours",
    },
    {
        "why": "neighbours in the original space",
        "grade_id": "algorithm",
        "source": ALGORITHM.format(**RIGHT | {"projected": "X"}),
        "loses": ["test-algorithm"],
        "message": "J of round 1",
    },
    {
        "why": "the new similarities never reach the W-step",
        "grade_id": "algorithm",
        "source": ALGORITHM.format(**RIGHT | {"update": "new"}),
        "loses": ["test-algorithm"],
        "message": "Does the second W-step see the S of round 1",
    },
    {
        "why": "returns the symmetrised S",
        "grade_id": "algorithm",
        "source": ALGORITHM.format(**RIGHT | {"returned": "(S + S.T) / 2"}),
        "loses": ["test-algorithm"],
        "message": "symmetrised before it was returned",
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
        "why": "minimum for maximum",
        "grade_id": "angle",
        "source": """
def largest_angle(W, V):
    return np.degrees(subspace_angles(W, V).min())
""",
        "loses": ["test-angle"],
        "message": "spaces of dimension 2",
    },
    {
        "why": "compares column with column, so another basis looks like another space",
        "grade_id": "angle",
        "source": """
def largest_angle(W, V):
    lengths = np.linalg.norm(W, axis=0) * np.linalg.norm(V, axis=0)
    cosines = np.abs(np.sum(W * V, axis=0)) / lengths
    return np.degrees(np.arccos(np.minimum(cosines, 1))).max()
""",
        "loses": ["test-angle"],
        "message": "other bases",
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
        "why": "so many samples that checking them takes hours",
        "grade_id": "rising",
        "source": """
def rising_case():
    return np.zeros((50_000, 1)), np.zeros(50_000), 1, 9
""",
        "loses": ["test-rising"],
        "message": "20 to 1,000 are asked for",
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
        "why": "the S-step before the gamma-step",
        "grade_id": "changes",
        "source": """
def step_changes(X, before, after):
    def J(W, S, gamma):
        Y = X @ W
        squared = np.sum((Y[:, None] - Y[None]) ** 2, axis=2)
        return np.sum(S * squared + gamma[:, None] * S**2)

    (W0, S0, g0), (W1, S1, g1) = before, after
    w, s, g = np.diff(
        [J(W0, S0, g0), J(W1, S0, g0), J(W1, S1, g0), J(W1, S1, g1)]
    )
    return w, g, s
""",
        "loses": ["test-changes"],
        "message": "In which order",
    },
    {
        "why": "one call of SLNP",
        "grade_id": "algorithm",
        "source": """
def my_slnp(X, y, d, K, rounds):
    model = SLNP(d, K, max_iter=rounds, tol=0).fit(X, y)
    return model.components_.T, model.similarity_.toarray(), model.objective_
""",
        "loses": ["test-algorithm"],
        "message": "it uses slnp_edu.SLNP",
    },
    {
        "why": "the module's W-step",
        "grade_id": "w-step",
        "source": """
def my_w_step(X, S, d):
    from slnp_edu.steps import w_step

    return w_step(X - X.mean(axis=0), S, d)[0]
""",
        "loses": ["test-w-step"],
        "message": "it uses slnp_edu.steps.w_step",
    },
    {
        "why": "the estimator through an object that another function made",
        "grade_id": "algorithm",
        "source": """
def make(d, K, rounds):
    return SLNP(d, K, max_iter=rounds, tol=0)


class Whole:
    def __call__(self, X, y, d, K, rounds):
        model = make(d, K, rounds).fit(X, y)
        return model.components_.T, model.similarity_, model.objective_


my_slnp = Whole()
""",
        "loses": ["test-algorithm"],
        "message": "it uses slnp_edu.SLNP",
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
        "why": "the mean of the short list",
        "grade_id": "weighted",
        "source": """
def weighted_w_step(X, S, m, d):
    X = X - X.mean(axis=0)
    S = m[:, None] * (S + S.T) / 2 * m
    L = np.diag(S.sum(axis=1)) - S
    return eigh(X.T @ L @ X, X.T @ (m[:, None] * X))[1][:, :d]
""",
        "loses": ["test-weighted"],
        "message": "Which mean",
    },
    {
        "why": "each sample counts once in St",
        "grade_id": "weighted",
        "source": """
def weighted_w_step(X, S, m, d):
    X = X - m @ X / m.sum()
    S = m[:, None] * (S + S.T) / 2 * m
    L = np.diag(S.sum(axis=1)) - S
    return eigh(X.T @ L @ X, X.T @ X)[1][:, :d]
""",
        "loses": ["test-weighted"],
        "message": "how often does each sample count",
    },
    {
        "why": "the numbers of one end of each pair only",
        "grade_id": "weighted",
        "source": """
def weighted_w_step(X, S, m, d):
    X = X - m @ X / m.sum()
    S = m[:, None] * S
    S = (S + S.T) / 2
    L = np.diag(S.sum(axis=1)) - S
    return eigh(X.T @ L @ X, X.T @ (m[:, None] * X))[1][:, :d]
""",
        "loses": ["test-weighted"],
        "message": "How often does each pair occur",
    },
    {
        "why": "the pairs of the short list",
        "grade_id": "weighted",
        "source": """
def weighted_w_step(X, S, m, d):
    X = X - m @ X / m.sum()
    S = (S + S.T) / 2
    L = np.diag(S.sum(axis=1)) - S
    return eigh(X.T @ L @ X, X.T @ (m[:, None] * X))[1][:, :d]
""",
        "loses": ["test-weighted"],
        "message": "How often does each pair occur",
    },
    {
        "why": "repeats the rows",
        "grade_id": "weighted",
        "source": """
def weighted_w_step(X, S, m, d):
    rows = np.repeat(np.arange(len(m)), m)
    X, S = X[rows] - X[rows].mean(axis=0), S[np.ix_(rows, rows)]
    S = (S + S.T) / 2
    L = np.diag(S.sum(axis=1)) - S
    return eigh(X.T @ L @ X, X.T @ X)[1][:, :d]
""",
        "loses": ["test-weighted"],
        "message": "Unable to allocate",
    },
]
