"""Brute-force twins: every method once more, as loops straight from its equations.

They share no code with `slnp_edu`. Slow on purpose.
"""

import numpy as np


def angle(U, V):
    """Largest principal angle between the column spaces of U and V, in radians.

    From the sine, which is accurate for small angles where the cosine is not.
    """
    U, V = np.linalg.qr(U)[0], np.linalg.qr(V)[0]
    assert U.shape == V.shape
    return np.arcsin(min(1.0, np.linalg.norm(V - U @ (U.T @ V), 2)))


def solve(A, B, d, largest=False):
    """Eigenvectors of A w = lambda B w on the range of B, with an SVD of B."""
    U, values, _ = np.linalg.svd(B)
    kept = values > 1e-11 * values[0]
    T = U[:, kept] / np.sqrt(values[kept])
    eigenvalues, V = np.linalg.eigh(T.T @ A @ T)
    order = slice(None, -d - 1, -1) if largest else slice(d)
    return T @ V[:, order], eigenvalues[order]


def pairwise(X, S):
    """1/2 sum_jk s_jk (x_j - x_k)(x_j - x_k)'."""
    A = np.zeros((X.shape[1], X.shape[1]))
    for j in range(len(X)):
        for k in range(len(X)):
            A += 0.5 * S[j, k] * np.outer(X[j] - X[k], X[j] - X[k])
    return A


def total_scatter(X):
    mean = sum(X) / len(X)
    return sum(np.outer(x - mean, x - mean) for x in X)


def nearest(Y, j, candidates, K):
    """The K nearest of the candidates to sample j: (squared distance, index), sorted."""
    found = sorted((float(np.sum((Y[j] - Y[k]) ** 2)), k) for k in candidates if k != j)
    return found[:K]


def uniform(y):
    N = len(y)
    S = np.zeros((N, N))
    for j in range(N):
        for k in range(N):
            if y[j] == y[k]:
                S[j, k] = 1 / sum(label == y[j] for label in y)
    return S


def shares(found, K, rule, gamma):
    """Gamma, and the similarity of each (distance, index) found, nearest first, by one rule."""
    d = [dist for dist, _ in found]
    n = min(K, len(d))
    if rule == "can":  # upper bound of (45); without a next one the last takes its place
        gamma = (n * d[min(n, len(d) - 1)] - sum(d[:n])) / 2
    elif gamma is None:
        gamma = (n - 1) / 2 * np.sqrt(sum(dist**2 for dist in d[:n]))  # (52)
    if gamma < 1e-14 and rule == "fixed":  # equal shares among the nearest
        n = sum(dist < d[0] + 1e-14 for dist in d)
    elif rule == "fixed":  # the most neighbours that can keep a positive share
        n = max(m for m in range(1, len(d) + 1) if sum(d[m - 1] - x for x in d[:m]) < 2 * gamma)
    if gamma < 1e-14:  # one neighbour, or all at distance 0
        return gamma, [1 / n] * n + [0.0] * (len(d) - n)
    eta = (sum(d[:n]) / (2 * gamma) + 1) / n  # (42)
    return gamma, [eta - dist / (2 * gamma) for dist in d[:n]] + [0.0] * (len(d) - n)  # (38)


def nearest_graph(X, y, K):
    """Similarities (52), (38) to the K nearest of the same class, one sample at a time."""
    S = np.zeros((len(X), len(X)))
    for j in range(len(X)):
        found = nearest(X, j, [k for k in range(len(X)) if y[k] == y[j]], K)
        for (_, k), share in zip(found, shares(found, K, "paper", None)[1], strict=True):
            S[j, k] = share
    return S


def slnp(X, y, d, K, rounds, rule="paper", S=None, choose=None, anchor=0.0, scale=None):
    """Algorithm 1 with the slips mended. Returns W, S, gamma and J after each round.

    ``choose(Y, j, others)`` lists (squared distance, index) of j's neighbours; by default the
    nearest: K of them, one more for the rule "can", all for the rule "fixed".
    ``scale(w)`` is what a column of W is divided by before samples are projected.
    """
    N = len(X)
    S = uniform(y) if S is None else S
    gamma, J = [None] * N, []
    searched = {"paper": K, "can": K + 1, "fixed": N}[rule]
    Sw = sum(total_scatter(X[[j for j in range(N) if y[j] == label]]) for label in set(y))
    for _ in range(rounds):
        W, _ = solve((1 - anchor) * pairwise(X, S) + anchor * Sw, total_scatter(X), d)
        if scale:
            W = np.column_stack([w / scale(w) for w in W.T])
        Y = np.array([W.T @ x for x in X])
        S, total = np.zeros((N, N)), 0.0
        for j in range(N):
            others = [k for k in range(N) if y[k] == y[j] and k != j]
            found = choose(Y, j, others) if choose else nearest(Y, j, others, searched)
            if not found:
                gamma[j] = 0.0
                continue
            before = gamma[j] if rule == "fixed" else None
            gamma[j], s = shares(found, len(found) if choose else K, rule, before)
            for (dist, k), share in zip(found, s, strict=True):
                S[j, k] = share
                total += share * dist + gamma[j] * share**2  # (19)
        J.append(total)
    return W, S, np.array(gamma), J


def lda(X, y, d):
    Sw, Sb = np.zeros((X.shape[1],) * 2), np.zeros((X.shape[1],) * 2)
    for label in set(y):
        members = X[[j for j in range(len(X)) if y[j] == label]]
        away = members.mean(axis=0) - X.mean(axis=0)
        Sw, Sb = Sw + total_scatter(members), Sb + len(members) * np.outer(away, away)
    return solve(Sb, Sw, d, largest=True)[0]


def lpp(X, d, K=5, kernel="heat", t=None, y=None):
    """With labels y, only samples of the same class are neighbours."""
    X = X - X.mean(axis=0)
    N = len(X)
    linked = set()
    for j in range(N):
        candidates = [k for k in range(N) if y is None or y[k] == y[j]]
        for _, k in nearest(X, j, candidates, N if K is None else K):
            linked |= {(j, k), (k, j)}
    squared = {(j, k): float(np.sum((X[j] - X[k]) ** 2)) for j, k in linked}
    mean = sum(squared.values()) / len(squared)
    S = np.zeros((N, N))
    for (j, k), value in squared.items():
        if kernel == "heat":
            S[j, k] = np.exp(-value / (mean if t is None else t))
        else:
            S[j, k] = np.exp(-value / (2 * (np.sqrt(mean) if t is None else t) ** 2))
    D = np.diag([sum(row) for row in S])
    return solve(pairwise(X, S), X.T @ D @ X, d)[0]


def lfda(X, y, d, K=7, kernel="local", t=None, c=1.0):
    """Plain eigenvectors and their eigenvalues."""
    N = len(X)
    same = [(j, k) for j in range(N) for k in range(N) if j != k and y[j] == y[k]]
    if t is None:
        t = c * sum(np.sum((X[j] - X[k]) ** 2) for j, k in same) / len(same)
    within, between = np.zeros((N, N)), np.full((N, N), 1 / N)
    sigma = np.zeros(N)
    for j in range(N):
        near = nearest(X, j, [k for k in range(N) if y[k] == y[j]], K)
        sigma[j] = np.sqrt(near[-1][0]) if near else 0.0
    for j in range(N):
        n = sum(label == y[j] for label in y)
        for k in range(N):
            if y[j] == y[k]:
                squared = float(np.sum((X[j] - X[k]) ** 2))
                if squared == 0:
                    s = 1.0
                elif kernel == "heat":
                    s = np.exp(-squared / t)  # (13)
                elif sigma[j] * sigma[k] == 0:
                    s = 0.0
                else:
                    s = np.exp(-squared / (sigma[j] * sigma[k]))
                within[j, k] = s / n
                between[j, k] = s * (1 / N - 1 / n)
    return solve(pairwise(X, between), pairwise(X, within), d, largest=True)


def mfa(X, y, d, K=5, n_pairs=20, pairs="class"):
    N = len(X)
    within, between = np.zeros((N, N)), np.zeros((N, N))
    for j in range(N):
        for _, k in nearest(X, j, [k for k in range(N) if y[k] == y[j]], K):
            within[j, k] = within[k, j] = 1
        if pairs == "sample":
            for _, k in nearest(X, j, [k for k in range(N) if y[k] != y[j]], n_pairs):
                between[j, k] = between[k, j] = 1
    every = sorted(
        (float(np.sum((X[j] - X[k]) ** 2)), j, k)
        for j in range(N)
        for k in range(N)
        if y[j] != y[k]
    )
    if pairs == "class":
        for label in set(y):
            for _, j, k in [pair for pair in every if y[pair[1]] == label][:n_pairs]:
                between[j, k] = between[k, j] = 1
    if pairs == "overall":
        for _, j, k in [pair for pair in every if pair[1] < pair[2]][:n_pairs]:
            between[j, k] = between[k, j] = 1
    return solve(pairwise(X, within), pairwise(X, between), d)[0]


def lsda(X, y, d, K=5, beta=0.1, self_loops=True):
    X = X - X.mean(axis=0)
    N = len(X)
    W_w, W_b = np.zeros((N, N)), np.zeros((N, N))
    for j in range(N):
        for _, k in nearest(X, j, range(N), K):
            graph = W_w if y[j] == y[k] else W_b
            graph[j, k] = graph[k, j] = 1
        if self_loops:
            W_w[j, j] = 1
    A = beta / (1 - beta) * pairwise(X, W_b) + X.T @ W_w @ X
    return solve(A, X.T @ np.diag(W_w.sum(axis=1)) @ X, d, largest=True)[0]


def best_trace_ratio(A, B, d):
    """Largest tr(W'AW) / tr(W'BW) with W'W = I: the root of a falling function, by bisection.

    The d largest eigenvalues of A - rB sum to 0 when r is the best ratio.
    """

    def largest(r):
        values, V = np.linalg.eigh(A - r * B)
        return values[-d:].sum(), V[:, -d:]

    low, high = -1.0, 1.0
    while largest(low)[0] < 0:
        low *= 2
    while largest(high)[0] > 0:
        high *= 2
    for _ in range(200):
        r = (low + high) / 2
        low, high = (r, high) if largest(r)[0] > 0 else (low, r)
    return largest(r)[1]


def best_one_by_one(A, B, d):
    """Each w the largest w'Aw / w'Bw with w'v = 0 for the v before it, by Lagrange's multipliers.

    It is the leading eigenvector of (I - B^-1 V (V'B^-1 V)^-1 V') B^-1 A.
    """
    inverse = np.linalg.inv(B)
    V = np.zeros((len(A), 0))
    for _ in range(d):
        M = inverse @ A
        if V.shape[1]:
            M = M - inverse @ V @ np.linalg.inv(V.T @ inverse @ V) @ V.T @ M
        values, vectors = np.linalg.eig(M)
        w = np.real(vectors[:, np.argmax(np.real(values))])
        V = np.hstack([V, (w / np.sqrt(w @ w))[:, None]])
    return V


def span(B):
    """Orthonormal basis of the range of B, by its SVD."""
    U, values, _ = np.linalg.svd(B)
    return U[:, values > 1e-11 * values[0]]


def solde(X, y, d, K=5, a=0.75, sigma=None, directions="one by one"):
    N = len(X)
    linked = set()
    for j in range(N):
        for _, k in nearest(X, j, range(N), K):
            linked |= {(j, k), (k, j)}
    if sigma is None:
        sigma = max(np.sum((X[j] - X[k]) ** 2) for j, k in linked)
    S, H, F = np.zeros((N, N)), np.zeros((N, N)), np.zeros((N, N))
    for j, k in linked:
        value = np.exp(-np.sum((X[j] - X[k]) ** 2) / sigma)
        if y[j] == y[k]:
            S[j, k], H[j, k] = value, 1 - value
        else:
            F[j, k] = value
    A, B = pairwise(X, F), a * pairwise(X, S) - (1 - a) * pairwise(X, H)
    U = span(B)
    solver = best_one_by_one if directions == "one by one" else best_trace_ratio
    return U @ solver(U.T @ A @ U, U.T @ B @ U, d)


def lada(X, y, d, rounds):
    """Returns W and the ratio after each round."""
    N = len(X)
    size = [sum(label == y[j] for label in y) for j in range(N)]
    s = np.array([[(y[j] == y[k]) / size[j] for k in range(N)] for j in range(N)])
    total = pairwise(X, np.full((N, N), 1 / N))
    U = span(total)
    J = []
    for _ in range(rounds):
        weights = np.array([[size[j] * s[j, k] ** 2 for k in range(N)] for j in range(N)])
        A, B = U.T @ pairwise(X, weights) @ U, U.T @ total @ U
        W = U @ best_trace_ratio(-A, B, d)
        Y = X @ W
        squared = np.array([[np.sum((Y[j] - Y[k]) ** 2) for k in range(N)] for j in range(N)])
        squared[squared < 1e-18 * squared.max()] = 0
        s = np.zeros((N, N))
        for j in range(N):
            others = [k for k in range(N) if y[k] == y[j] and k != j]
            same = [k for k in others if squared[j, k] == 0]
            for k in same or others:
                inverse = [1.0 if same else 1 / squared[j, t] for t in same or others]
                s[j, k] = (1.0 if same else 1 / squared[j, k]) / sum(inverse)
        J.append(
            sum(size[j] * s[j, k] ** 2 * squared[j, k] for j in range(N) for k in range(N))
            / (squared.sum() / N)
        )
    return W, J
