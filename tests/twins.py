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


def slnp(X, y, d, K, rounds):
    """Algorithm 1 with the slips mended. Returns W, S, gamma and J after each round."""
    N = len(X)
    S = np.zeros((N, N))
    for j in range(N):
        for k in range(N):
            if y[j] == y[k]:
                S[j, k] = 1 / sum(label == y[j] for label in y)
    J = []
    for _ in range(rounds):
        W, _ = solve(pairwise(X, S), total_scatter(X), d)
        Y = np.array([W.T @ x for x in X])
        S, gamma = np.zeros((N, N)), np.zeros(N)
        total = 0.0
        for j in range(N):
            near = nearest(Y, j, [k for k in range(N) if y[k] == y[j]], K)
            if not near:
                continue
            n = len(near)
            gamma[j] = (n - 1) / 2 * np.sqrt(sum(dist**2 for dist, _ in near))  # (52)
            for dist, k in near:
                if gamma[j] < 1e-14:  # one neighbour, or all at distance 0
                    S[j, k] = 1 / n
                else:
                    eta = (sum(dist for dist, _ in near) / (2 * gamma[j]) + 1) / n  # (42)
                    S[j, k] = eta - dist / (2 * gamma[j])  # (38)
                total += S[j, k] * dist + gamma[j] * S[j, k] ** 2  # (19)
        J.append(total)
    return W, S, gamma, J


def lda(X, y, d):
    Sw, Sb = np.zeros((X.shape[1],) * 2), np.zeros((X.shape[1],) * 2)
    mean = X.mean(axis=0)
    for label in set(y):
        members = X[[j for j in range(len(X)) if y[j] == label]]
        centre = members.mean(axis=0)
        for x in members:
            Sw += np.outer(x - centre, x - centre)
        Sb += len(members) * np.outer(centre - mean, centre - mean)
    return solve(Sb, Sw, d, largest=True)[0]


def lpp(X, d, K=5, kernel="heat", t=None):
    X = X - X.mean(axis=0)
    N = len(X)
    linked = set()
    for j in range(N):
        for _, k in nearest(X, j, range(N), N if K is None else K):
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


def lfda(X, y, d, K=7):
    N = len(X)
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
                elif sigma[j] * sigma[k] == 0:
                    s = 0.0
                else:
                    s = np.exp(-squared / (sigma[j] * sigma[k]))
                within[j, k] = s / n
                between[j, k] = s * (1 / N - 1 / n)
    return solve(pairwise(X, between), pairwise(X, within), d, largest=True)[0]


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
