"""Plausible wrong answers to assignment 4, and what each must lose."""

WRONG = [
    {
        "why": "eta without 1/K",
        "grade_id": "eta",
        "source": """
def eta(d, gamma):
    return 1 + np.sum(d) / (2 * gamma)
""",
        "loses": ["test-eta"],
        "message": "they must sum to 1",
    },
    {
        "why": "the printed index: the upper bound with candidate K + 2",
        "grade_id": "bounds",
        "source": """
def bounds(d, K):
    half_sum = np.sum(d[:K]) / 2
    return K / 2 * d[K - 1] - half_sum, K / 2 * d[min(K + 1, len(d) - 1)] - half_sum
""",
        "loses": ["test-bounds"],
        "message": "Just below your upper bound",
    },
    {
        "why": "a constant tuned to the visible test",
        "grade_id": "bounds",
        "source": """
def bounds(d, K):
    return 4.0, 12.0
""",
        "loses": ["test-bounds"],
        "message": "for K = 2 it must have",
    },
    {
        "why": "the sum of the squares without the root",
        "grade_id": "rule",
        "source": """
def gamma_rule(d):
    return (len(d) - 1) / 2 * np.sum(np.square(d))
""",
        "loses": ["test-rule"],
        "message": "gamma grows like d",
    },
    {
        "why": "the printed (47) taken over",
        "grade_id": "expansion",
        "source": """
def coefficients_47():
    return 1, 1 / 4, 1, -1
""",
        "loses": ["test-expansion"],
        "message": "with your constants it is",
    },
    {
        "why": "distances that spread out, so that the bound is large",
        "grade_id": "above",
        "source": """
def above_upper(K):
    return 100.0 ** np.arange(K + 1)
""",
        "loses": ["test-above"],
        "message": "it is not exceeded",
    },
    {
        "why": "half of (52), whatever the bounds",
        "grade_id": "better",
        "source": """
def better_gamma(d):
    return (len(d) - 1) / 4 * np.sqrt(np.sum(np.square(d)))
""",
        "loses": ["test-better"],
        "message": "none may be negative",
    },
    {
        "why": "equal distances, where the bound is 0 but (52) is not",
        "grade_id": "worst",
        "source": """
def worst_row(K):
    return np.ones(K)
""",
        "loses": ["test-worst"],
        "message": "they must be equal",
    },
    {
        "why": "safe, but not the smallest: the mean taken to be d_1",
        "grade_id": "factor",
        "source": """
def safe_factor(K):
    return K / 2
""",
        "loses": ["test-factor"],
        "message": "a smaller factor is safe too",
    },
    {
        "why": "one near, all others far",
        "grade_id": "unsafe",
        "source": """
def unsafe_row(K, c):
    return np.append(0.0, np.ones(K - 1))
""",
        "loses": ["test-unsafe"],
        "message": "which is not negative",
    },
    {
        "why": "so small that any tolerance takes it for equal",
        "grade_id": "worst",
        "source": """
def worst_row(K):
    return np.full(K, 1e-12)
""",
        "loses": ["test-worst"],
        "message": "they must be equal",
    },
]
