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
        "why": "clips and divides by the sum",
        "grade_id": "project",
        "source": """
def project(v):
    s = np.maximum(v, 0)
    return s / s.sum() if s.sum() > 0 else np.full(len(v), 1 / len(v))
""",
        "loses": ["test-project"],
        "message": "this one is not the nearest",
    },
    {
        "why": "shifts all entries alike and forgets the support",
        "grade_id": "project",
        "source": """
def project(v):
    return v + (1 - v.sum()) / len(v)
""",
        "loses": ["test-project"],
        "message": "no similarity may be negative",
    },
    {
        "why": "shifts all entries alike, then clips",
        "grade_id": "project",
        "source": """
def project(v):
    return np.maximum(v + (1 - v.sum()) / len(v), 0)
""",
        "loses": ["test-project"],
        "message": "similarities must sum to 1",
    },
    {
        "why": "takes the smallest support instead of the largest",
        "grade_id": "project",
        "source": """
def project(v):
    u = np.sort(v)[::-1]
    eta = (1 - np.cumsum(u)) / np.arange(1, len(u) + 1)
    s = np.maximum(v + eta[np.argmax(u + eta > 0)], 0)
    return s / s.sum()
""",
        "loses": ["test-project"],
        "message": "this one is not the nearest",
    },
    {
        "why": "returns the entries in sorted order",
        "grade_id": "project",
        "source": """
def project(v):
    u = np.sort(v)[::-1]
    eta = (1 - np.cumsum(u)) / np.arange(1, len(u) + 1)
    return np.maximum(u + eta[np.sum(u + eta > 0) - 1], 0)
""",
        "loses": ["test-project"],
        "message": "in the order of v",
    },
    {
        "why": "uses softmax",
        "grade_id": "project",
        "source": """
def project(v):
    s = np.exp(v - v.max())
    return s / s.sum()
""",
        "loses": ["test-project"],
        "message": "this one is not the nearest",
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
        "why": "sorts its argument in place",
        "grade_id": "project",
        "source": """
def project(v):
    order = np.argsort(v)[::-1]
    v.sort()
    u = v[::-1]
    eta = (1 - np.cumsum(u)) / np.arange(1, len(u) + 1)
    s = np.empty(len(v))
    s[order] = np.maximum(u + eta[np.sum(u + eta > 0) - 1], 0)
    return s
""",
        "loses": ["test-project"],
        "message": "changes its argument",
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
        "why": "forgets the minus sign",
        "grade_id": "row",
        "source": """
def s_row(d, gamma):
    return project(d / (2 * gamma))
""",
        "loses": ["test-row"],
        "message": "The nearer neighbour must get more",
    },
    {
        "why": "uses (38) for everybody",
        "grade_id": "row",
        "source": """
def s_row(d, gamma):
    q = d / (2 * gamma)
    return (1 + q.sum()) / len(q) - q
""",
        "loses": ["test-row"],
        "message": "a similarity is negative",
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
        "why": "sets b to 0, as the paper does",
        "grade_id": "multipliers",
        "source": """
def multipliers(s, d, gamma):
    return (s + d / (2 * gamma)).min(), np.zeros(len(s))
""",
        "loses": ["test-multipliers"],
        "message": "so (37) does not hold",
    },
    {
        "why": "takes eta of the case that all are on the support",
        "grade_id": "multipliers",
        "source": """
def multipliers(s, d, gamma):
    q = d / (2 * gamma)
    eta = (1 + q.sum()) / len(q)
    return eta, s + q - eta
""",
        "loses": ["test-multipliers"],
        "message": "b has a negative entry",
    },
    {
        "why": "takes eta = 0",
        "grade_id": "multipliers",
        "source": """
def multipliers(s, d, gamma):
    return 0.0, s + d / (2 * gamma)
""",
        "loses": ["test-multipliers"],
        "message": "a positive similarity and a positive multiplier",
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
        "why": "does not check the sum",
        "grade_id": "kkt",
        "source": """
def kkt_residual(s, d, gamma):
    total = s + d / (2 * gamma)
    return max(np.abs((total - total.min()) * s).max(), -s.min())
""",
        "loses": ["test-kkt-each"],
        "message": "A row that sums to",
    },
    {
        "why": "does not notice a sum below 1",
        "grade_id": "kkt",
        "source": """
def kkt_residual(s, d, gamma):
    total = s + d / (2 * gamma)
    return max(np.abs((total - total.min()) * s).max(), -s.min(), s.sum() - 1)
""",
        "loses": ["test-kkt-each"],
        "message": "A row that sums to",
    },
    {
        "why": "does not check the signs",
        "grade_id": "kkt",
        "source": """
def kkt_residual(s, d, gamma):
    total = s + d / (2 * gamma)
    return max(np.abs((total - total.min()) * s).max(), abs(s.sum() - 1))
""",
        "loses": ["test-kkt-each"],
        "message": "A row with a negative similarity",
    },
    {
        "why": "looks at the support only and forgets b >= 0",
        "grade_id": "kkt",
        "source": """
def kkt_residual(s, d, gamma):
    total = (s + d / (2 * gamma))[s > 0]
    return max(np.ptp(total), -s.min(), abs(s.sum() - 1))
""",
        "loses": ["test-kkt-each"],
        "message": "A row without the nearest neighbour",
    },
    {
        "why": "always returns 0",
        "grade_id": "kkt",
        "source": """
def kkt_residual(s, d, gamma):
    return 0.0
""",
        "loses": ["test-kkt", "test-kkt-each"],
        "message": "it is not optimal",
    },
    {
        "why": "asks for b = 0 everywhere",
        "grade_id": "kkt",
        "source": """
def kkt_residual(s, d, gamma):
    return max(np.ptp(s + d / (2 * gamma)), -s.min(), abs(s.sum() - 1))
""",
        "loses": ["test-kkt", "test-kkt-each"],
        "message": "The best row: it is optimal",
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
        "why": "answers in sorted order",
        "grade_id": "drop-out",
        "source": """
def drop_out(d):
    u = np.sort(d)
    return (np.arange(1, len(u) + 1) * u - np.cumsum(u)) / 2
""",
        "loses": ["test-drop-out"],
        "message": "Is the answer in the order of d?",
    },
    {
        "why": "always keeps all the others on the support",
        "grade_id": "drop-out",
        "source": """
def drop_out(d):
    return np.maximum(len(d) * d - d.sum(), 0) / 2
""",
        "loses": ["test-drop-out"],
        "message": "it drops out at some positive gamma",
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
        "why": "calls the module's projection",
        "grade_id": "project",
        "source": """
def project(v):
    from slnp_edu.steps import project_to_simplex

    return project_to_simplex([v])[0]
""",
        "loses": ["test-project"],
        "message": "it uses slnp_edu.steps.project_to_simplex",
    },
    {
        "why": "compares with the module's solution",
        "grade_id": "kkt",
        "source": """
def kkt_residual(s, d, gamma):
    return np.abs(s - exact_s_step([d], [gamma])[0]).max()
""",
        "loses": ["test-kkt", "test-kkt-each"],
        "message": "it uses slnp_edu.steps.exact_s_step",
    },
    {
        "why": "compares with its own solution",
        "grade_id": "kkt",
        "source": """
def right_row(d, gamma):
    return s_row(d, gamma)


def kkt_residual(s, d, gamma):
    return np.abs(s - right_row(d, gamma)).max()
""",
        "loses": ["test-kkt", "test-kkt-each"],
        "message": "written without slnp_edu, project and s_row; it uses",
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
        "why": "cuts the row off at c; the rest is lost",
        "grade_id": "capped",
        "source": """
def capped_row(d, gamma, c):
    return np.minimum(s_row(d, gamma), c)
""",
        "loses": ["test-capped"],
        "message": "others must get",
    },
    {
        "why": "cuts the row off at c and divides by the sum",
        "grade_id": "capped",
        "source": """
def capped_row(d, gamma, c):
    s = np.minimum(s_row(d, gamma), c)
    return s / s.sum()
""",
        "loses": ["test-capped"],
        "message": "which is more than c",
    },
    {
        "why": "cuts off at c and gives the rest to the next, as far as c allows",
        "grade_id": "capped",
        "source": """
def capped_row(d, gamma, c):
    s = np.minimum(s_row(d, gamma), c)
    for k in np.argsort(d, kind="stable"):
        s[k] = min(c, s[k] + 1 - s.sum())
    return s
""",
        "loses": ["test-capped"],
        "message": "but there is one that costs",
    },
    {
        "why": "fills up to c from the nearest on, whatever gamma is",
        "grade_id": "capped",
        "source": """
def capped_row(d, gamma, c):
    s, left = np.zeros(len(d)), 1.0
    for k in np.argsort(d, kind="stable"):
        s[k] = min(c, left)
        left -= s[k]
    return s
""",
        "loses": ["test-capped"],
        "message": "but there is one that costs",
    },
    {
        "why": "equal shares, which keep every bound",
        "grade_id": "capped",
        "source": """
def capped_row(d, gamma, c):
    return np.full(len(d), 1 / len(d))
""",
        "loses": ["test-capped"],
        "message": "but there is one that costs",
    },
    {
        "why": "q without the 2",
        "grade_id": "capped",
        "source": """
def capped_row(d, gamma, c):
    q = np.asarray(d) / gamma
    low, high = q.min(), q.max() + c
    for _ in range(200):
        eta = (low + high) / 2
        low, high = (low, eta) if np.clip(eta - q, 0, c).sum() > 1 else (eta, high)
    return np.clip(eta - q, 0, c)
""",
        "loses": ["test-capped"],
        "message": "but there is one that costs",
    },
]
