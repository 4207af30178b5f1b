/* The steps of SLNP for the live figures: the functions of slnp_edu/steps.py under the same names.

Rows of X are samples. The same rules hold: ties go to the smaller number, a missing neighbour stands
at distance Infinity under the sample's own number, of an eigenvector the largest entry is positive.
A similarity matrix is an array of rows.
tests/site/test_live.py runs these functions in node beside those of Python. */

var steps = (function () {
  "use strict";
  const sum = v => v.reduce((total, x) => total + x, 0);
  const dot = (v, w) => sum(v.map((x, i) => x * w[i]));
  const transpose = A => A[0].map((_, j) => A.map(row => row[j]));
  const product = (A, B) => { const T = transpose(B); return A.map(row => T.map(c => dot(row, c))); };
  const squared = (v, w) => sum(v.map((x, i) => (x - w[i]) ** 2));

  function centred(X) {
    const mean = transpose(X).map(column => sum(column) / X.length);
    return X.map(row => row.map((x, i) => x - mean[i]));
  }

  /** Squared distances below this are rounding. */
  const rounding = Y => 1e-20 * Math.max(...centred(Y).map(row => dot(row, row)));

  /** The K nearest of the same class, nearest first: {indices, distances}, squared distances (28). */
  function neighbours(Y, y, K) {
    const least = rounding(Y), indices = [], distances = [];
    Y.forEach((point, j) => {
      const found = [];
      Y.forEach((other, k) => {
        if (k === j || y[k] !== y[j]) return;
        const d = squared(point, other);
        found.push([d < least ? 0 : d, k]);
      });
      found.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      while (found.length < K) found.push([Infinity, j]);
      indices.push(found.slice(0, K).map(pair => pair[1]));
      distances.push(found.slice(0, K).map(pair => pair[0]));
    });
    return {indices, distances};
  }

  const present = row => row.filter(Number.isFinite);

  /** gamma = (K-1)/2 sqrt(sum_k d_k^2) of each row (52). */
  function gamma_step(distances) {
    return distances.map(row => (present(row).length - 1) / 2 * Math.hypot(...present(row)) + 0);
  }

  /** Lower and upper bounds of (45) from the K + 1 nearest of each row. */
  function gamma_bounds(distances) {
    const bounds = distances.map(row => {
      const d = present(row.slice(0, -1)), K = d.length, last = Math.max(0, ...d), next = row.at(-1);
      return [last, Number.isFinite(next) ? next : last].map(edge => (K * edge - sum(d)) / 2);
    });
    return {lower: bounds.map(pair => pair[0]), upper: bounds.map(pair => pair[1])};
  }

  /** s_k = 1/K + (mean d - d_k) / (2 gamma) (38), (42); equal shares where gamma is 0. */
  function s_step(distances, gamma) {
    return distances.map((row, j) => {
      const d = present(row), K = d.length, mean = sum(d) / K;
      return row.map(x => {
        if (!Number.isFinite(x)) return 0;
        return 1 / K + (gamma[j] > 0 ? (mean - x) / (2 * gamma[j]) : 0);
      });
    });
  }

  /** Nearest point of the simplex {s >= 0, sum s = 1} to each row of v. */
  function project_to_simplex(v) {
    return v.map(row => {
      const top = Math.max(...row), shifted = row.map(x => x - top);
      let total = 0, eta = 1;
      [...shifted].sort((a, b) => b - a).forEach((u, m) => {
        total += u;
        const level = (1 - total) / (m + 1);
        if (u + level > 0) eta = level;
      });
      return shifted.map(x => Math.max(x + eta, 0));
    });
  }

  /** Exact minimiser of (26): the projection of -d / (2 gamma), measured from the least distance. */
  function exact_s_step(distances, gamma) {
    return distances.map((row, j) => {
      const least = Math.min(...row);
      if (!Number.isFinite(least)) return row.map(() => 0);
      const v = row.map(d => (d === least ? 0 : -(d - least) / (2 * gamma[j])));
      return project_to_simplex([v])[0];
    });
  }

  /** J = sum_jk (s d + gamma s^2) (19). */
  function objective(distances, S, gamma) {
    return sum(distances.map((row, j) => sum(row.map(
      (d, k) => S[j][k] * (Number.isFinite(d) ? d : 0) + gamma[j] * S[j][k] ** 2))));
  }

  /** The N x N matrix of the similarities of each sample's neighbours. */
  function similarity_matrix(indices, S) {
    const matrix = indices.map(() => new Array(indices.length).fill(0));
    indices.forEach((row, j) => row.forEach((k, place) => { matrix[j][k] += S[j][place]; }));
    return matrix;
  }

  /** The start: 1/N_i for every pair in a class. */
  function uniform_similarity(y) {
    const size = label => y.filter(other => other === label).length;
    return y.map(label => y.map(other => (other === label ? 1 / size(label) : 0)));
  }

  /** X'LX with L = D - (S + S')/2 (54)-(56). */
  function laplacian_scatter(X, S) {
    const received = transpose(S).map(sum);
    const half = product(transpose(X), X.map((row, j) => {
      const degree = (sum(S[j]) + received[j]) / 2;
      const pulled = row.map(() => 0);
      S[j].forEach((s, k) => { if (s) X[k].forEach((x, i) => { pulled[i] += s * x; }); });
      return row.map((x, i) => degree * x - pulled[i]);
    }));
    return half.map((row, i) => row.map((x, k) => (x + half[k][i]) / 2));
  }

  /** Eigenvalues, ascending, and eigenvectors (columns) of a symmetric matrix like St. */
  function eigh(A) {
    if (A.length === 1) return {values: [A[0][0]], vectors: [[1]]};
    if (A.length > 2) return jacobi(A);
    const [[a, b], [, c]] = A;
    const theta = Math.atan2(2 * b, a - c) / 2;  // of the larger one: a rotation that makes A diagonal
    const u = [Math.cos(theta), Math.sin(theta)], v = [-u[1], u[0]];
    const large = (a + c) / 2 + Math.hypot((a - c) / 2, b);
    const small = large > 0 ? (a * c - b * b) / large : 0;  // no difference of nearly equal numbers
    return {values: [small, large], vectors: transpose([v, u])};
  }

  /** The same by Jacobi's rotations: turn one pair of axes after another until A is diagonal. */
  function jacobi(A) {
    const n = A.length, B = A.map(row => [...row]), V = A.map((_, i) => A.map((_, j) => +(i === j)));
    const least = 1e-16 * Math.max(...A.map((row, i) => Math.abs(row[i])));
    const turn = (p, q, c, s) => { for (let k = 0; k < n; k++) [p[k], q[k]] = [c * p[k] - s * q[k], s * p[k] + c * q[k]]; };
    for (let turned = true, sweep = 0; turned && sweep < 30; sweep++) {
      turned = false;
      for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) {
        if (Math.abs(B[p][q]) <= least) continue;
        turned = true;
        const ratio = (B[q][q] - B[p][p]) / (2 * B[p][q]);
        const t = (ratio < 0 ? -1 : 1) / (Math.abs(ratio) + Math.hypot(ratio, 1)), c = 1 / Math.hypot(t, 1);
        for (const row of B) [row[p], row[q]] = [c * row[p] - t * c * row[q], t * c * row[p] + c * row[q]];
        turn(B[p], B[q], c, t * c);
        turn(V[p], V[q], c, t * c);  // rows of V are the eigenvectors
      }
    }
    const order = B.map((_, i) => i).sort((i, j) => B[i][i] - B[j][j]);
    return {values: order.map(i => B[i][i]), vectors: transpose(order.map(i => V[i]))};
  }

  /** Flip the columns whose entry of largest size is negative; of equals the first one counts. */
  function fix_signs(W) {
    const signs = transpose(W).map(w => {
      const largest = Math.max(...w.map(Math.abs));
      return w.find(x => Math.abs(x) >= (1 - 1e-8) * largest) < 0 ? -1 : 1;
    });
    return W.map(row => row.map((x, i) => x * signs[i]));
  }

  const columns = (A, kept) => A.map(row => row.filter((_, i) => kept[i]));

  /** P with P'BP = I whose columns span the range of B. */
  function whitening(B) {
    const {values, vectors} = eigh(B), largest = Math.max(values.at(-1), 0);
    const kept = values.map(value => value > 10 * B.length * Number.EPSILON * largest);
    return fix_signs(columns(vectors.map(row => row.map((x, i) => x / Math.sqrt(values[i]))), kept));
  }

  /** Where the last eigenvalue taken is tied with the next, directions of more variance first. */
  function break_ties(values, vectors, P, n) {
    const last = values[n - 1];
    const close = 1e-10 * Math.abs(last) + 1e-13 * Math.max(...values.map(Math.abs));
    const tied = values.map(value => Math.abs(value - last) < close);
    if (!tied.slice(n).some(Boolean)) return vectors;
    const some = columns(vectors, tied), W = product(P, some);
    const sorted = fix_signs(product(some, eigh(product(transpose(W), W)).vectors)), first = tied.indexOf(true);
    return vectors.map((row, k) => row.map((x, i) => (tied[i] ? sorted[k][i - first] : x)));
  }

  /** W that minimises tr(W'X'LXW) under W'StW = I (53)-(57), and its eigenvalues: {W, eigenvalues}.
  P is the whitening of St, if already known: it is the same in every round. */
  function w_step(X, S, n_components, P) {
    X = centred(X);
    P ??= whitening(product(transpose(X), X));
    const {values, vectors} = eigh(product(transpose(P), product(laplacian_scatter(X, S), P)));
    const chosen = break_ties(values, vectors, P, n_components);
    return {
      W: fix_signs(product(P, chosen.map(row => row.slice(0, n_components)))),
      eigenvalues: values.slice(0, n_components).map(value => Math.max(value, 0)),
    };
  }

  return {
    neighbours, gamma_step, gamma_bounds, s_step, project_to_simplex, exact_s_step, objective,
    similarity_matrix, uniform_similarity, laplacian_scatter, whitening, w_step,
    centred, product, squared, sum, transpose,
  };
})();

if (typeof module !== "undefined") module.exports = steps;
