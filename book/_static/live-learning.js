/* Chapter 11: fish with more and more readings of the lamp. When does learning help, and when does it hurt? */

live.figures.learning = function (figure, data) {
  "use strict";
  const {digits, clamp, marks} = live, {K, rounds, most, old, fresh} = data, wide = figure.wide, edge = 2.7;
  let {readings, anchor, clumps} = data;
  const lda = steps.uniform_similarity(old.y), known = {};

  /** Old fish, new fish, and the whitening, which is the same in every round. */
  function shoal(p) {
    const features = fish => fish.flicker.map((row, j) => [...row.slice(0, p), fish.length[clumps - 1][j]]);
    const whitening = X => { X = steps.centred(X); return steps.whitening(steps.product(steps.transpose(X), X)); };
    return known[`${p} ${clumps}`] ??= {X: features(old), Z: features(fresh), P: whitening(features(old))};
  }

  /** Is the nearest old fish of the same kind? For each new one. */
  const recognised = (old_ones, new_ones) => new_ones.map((z, j) => {
    const apart = old_ones.map(y => steps.squared(y, z));
    return old.y[apart.indexOf(Math.min(...apart))] === fresh.y[j];
  });

  /** All rounds of SLNP on two axes; the anchor keeps a share of LDA's within-class scatter. */
  function learn({X, Z, P}) {
    let S = lda;
    return Array.from({length: rounds}, () => {
      const mixed = S.map((row, j) => row.map((s, k) => (1 - anchor) * s + anchor * lda[j][k]));
      const {W} = steps.w_step(X, mixed, 2, P), [on_axes, fresh_ones] = [X, Z].map(each => steps.product(each, W));
      const {indices, distances} = steps.neighbours(on_axes, old.y, K);
      const gamma = steps.gamma_step(distances), s = steps.s_step(distances, gamma);
      S = steps.similarity_matrix(indices, s);
      const right = recognised(on_axes, fresh_ones), rate = 100 * right.filter(Boolean).length / right.length;
      return {W, on_axes, fresh_ones, right, rate, J: steps.objective(distances, s, gamma)};
    });
  }

  const plane = figure.panel({label: "Old and new fish on the two axes of the last round", x: [-edge, edge],
    y: [-edge, edge], width: wide ? 330 : 270, left: 6, right: 6, top: 20, bottom: 6});
  const curve = figure.panel({label: "New fish recognised, round by round", x: [1, rounds], y: [40, 100], width: 330,
    height: wide ? 270 : 150, left: 50, top: 24, bottom: 30, right: 14});
  figure.slider({label: "Readings", limits: [1, most], step: 1, text: () => String(readings),
    get: () => readings, set: value => { readings = value; }});
  figure.slider({label: "Anchor", limits: [0, 1], text: () => digits(anchor, 2),
    get: () => anchor, set: value => { anchor = value; }});
  figure.button("Young and old", () => { clumps = 2; });
  figure.button("Young only", () => { clumps = 1; });
  figure.panels.before(figure.hint("Blue circles: kind 0. Orange triangles: kind 1. Large: the fish it learns from. Small: new fish. "
    + "Ring: a new fish taken for the other kind. Dotted line: round 1."));
  figure.panels.after(figure.status);

  curve.background([curve.line([1, 40], [rounds, 40], "frame"), curve.line([1, 40], [1, 100], "frame"),
    curve.text([1, 100], "new fish recognised", {dy: -10, anchor: "start"}),
    [40, 70, 100].map(rate => curve.text([1, rate], `${rate} %`, {dx: -6, anchor: "end"})),
    [2, 4, 6, 8, 10].map(round => curve.text([round, 40], round, {dy: 17})),
    curve.text([5, 40], "round", {dy: 28, look: "small"})].flat().join(""));

  return function draw() {
    const p = readings, found = learn(shoal(p)), {on_axes, fresh_ones, right, rate, J} = found.at(-1);
    const middle = steps.transpose(on_axes).map(axis => steps.sum(axis) / axis.length), unit = Math.sqrt(old.y.length);
    const put = y => y.map((v, i) => clamp(unit * (v - middle[i]), [-edge, edge]));
    plane.draw(plane.text([0, edge], `the two axes of round ${rounds}`, {dy: -7}),
      fresh_ones.map((z, j) => plane.mark(put(z), marks[fresh.y[j]](1.9)
        + (right[j] ? "" : '<circle class="ring" r="5.5"/>'))),
      on_axes.map((y, j) => plane.mark(put(y), marks[old.y[j]](4))));
    const first = found[0].rate, line = found.map((one, i) => [i + 1, one.rate]), change = Math.round(rate) - Math.round(first);
    curve.draw(curve.line([1, first], [rounds, first], "dotted"), curve.path(line, "line"),
      line.map(point => curve.mark(point, '<circle class="step" r="4"/>')));
    return {
      state: {readings: p, anchor, clumps, W: found.at(-1).W, rates: found.map(one => one.rate), J: found.map(one => one.J)},
      text: `${p} reading${p > 1 ? "s" : ""}, ${clumps > 1 ? "young and old" : "young only"}, anchor ${digits(anchor, 2)}: `
        + `round 1 recognises ${digits(first, 0)} % of the new fish, round ${rounds} ${digits(rate, 0)} %`
        + `${change ? ` (${change > 0 ? "+" : "−"}${Math.abs(change)})` : ""}. The objective J goes from ${digits(found[0].J, 2)} to ${digits(J, 2)}.`,
    };
  };
};
