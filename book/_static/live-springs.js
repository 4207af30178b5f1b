/* Chapter 6: springs between similar fish, laid on an axis that turns. */

live.figures.springs = function (figure, data) {
  "use strict";
  const {digits, marks} = live, {y, K} = data, X = steps.centred(data.X), edge = 4.4, radius = 3.2;
  const first = steps.w_step(X, steps.uniform_similarity(y), 1).W;  // the first round ties the springs
  const {indices, distances} = steps.neighbours(steps.product(X, first), y, K);
  const shares = steps.s_step(distances, steps.gamma_step(distances));
  const springs = indices.flatMap((row, j) => row.map((k, place) => ({j, k, s: shares[j][place]})));
  const St = steps.product([0, 1].map(i => X.map(row => row[i])), X);
  const best = steps.w_step(X, steps.similarity_matrix(indices, shares), 1).W;
  let turn = data.degrees;

  const at = degrees => [Math.cos(degrees * Math.PI / 180), Math.sin(degrees * Math.PI / 180)];
  /** The fish on the axis, with a spread of 1. */
  function laid(degrees) {
    const u = at(degrees), spread = Math.sqrt(steps.sum(u.map((x, i) => steps.sum(u.map((z, k) => x * z * St[i][k])))));
    return X.map(row => (row[0] * u[0] + row[1] * u[1]) / spread);
  }
  const energy = degrees => {
    const z = laid(degrees);
    return steps.sum(springs.map(({j, k, s}) => s * (z[j] - z[k]) ** 2));
  };

  const plane = figure.panel({label: "Fish in the plane of lightness and length, and an axis", width: 250,
    x: [-3.5, 3.5], y: [-edge, edge], left: 18, bottom: 20});
  const axis = figure.panel({label: "The springs on the axis", x: [-0.4, 0.4], y: [-0.165, 0.165], height: 150});
  const curve = figure.panel({label: "Energy of the springs against the angle", x: [0, 180], y: [0, 1.3], height: 170,
    left: 36, bottom: 38, top: 20});
  const put = value => { turn = (value + 360) % 360; };
  figure.handle(plane, {
    label: "angle of the axis", shape: '<circle class="axis-knob" r="8"/>',
    at: () => at(turn).map(z => radius * z), move: (x, z) => put(Math.atan2(z, x) * 180 / Math.PI),
    nudge: count => put(turn + count), step: 1, value: () => turn % 180, limits: [0, 180],
    text: () => `${digits(turn % 180, 1)} degrees`,
  });
  figure.handle(curve, {
    label: "angle of the axis, on the curve", shape: '<circle class="knob" r="8"/>',
    at: () => [turn % 180, energy(turn)], move: x => put(Math.min(x, 179.9)), nudge: count => put(turn + count),
    step: 1, value: () => turn % 180, limits: [0, 180], text: () => `${digits(turn % 180, 1)} degrees`,
  });
  const found = (Math.atan2(best[1][0], best[0][0]) * 180 / Math.PI + 180) % 180;
  figure.button("Where the springs were tied", () => put(Math.atan2(first[1][0], first[0][0]) * 180 / Math.PI));
  figure.button("Least energy: the W-step", () => put(found));
  figure.hint("Turn the knob of the axis, or slide along the curve. By keyboard: Tab chooses, the arrow keys move, with "
    + "Shift in small steps.");

  const fine = Array.from({length: 181}, (_, degrees) => [degrees, energy(degrees)]);
  curve.background([
    curve.line([0, 0], [180, 0], "frame"), curve.line([0, 0], [0, 1.3], "frame"),
    [0, 45, 90, 135, 180].map(v => curve.text([v, 0], v, {dy: 16})), curve.text([90, 0], "angle of the axis", {dy: 33}),
    [0, 0.5, 1].map(v => curve.text([0, v], v, {dx: -6, anchor: "end"})),
    curve.text([0, 1.3], "energy", {dx: -30, dy: -8, anchor: "start"}), curve.path(fine, "curve thin"),
  ].flat(Infinity).join(""));
  plane.background([X.map((row, j) => plane.mark(row, marks[y[j]](3.4))),
    plane.text([plane.xlim[1], -edge], "lightness", {dy: 15, anchor: "end"}),
    `<text transform="translate(13 ${plane.y(0)}) rotate(-90)" text-anchor="middle">length</text>`,
  ].flat(Infinity).join(""));

  return function draw() {
    const z = laid(turn);
    plane.draw(plane.across([0, 0], at(turn), "axis"));
    axis.draw(
      axis.text([0, 0.165], "springs on the axis", {dy: 4}),
      springs.filter(({s}) => s > 1e-3).map(({j, k, s}) => {
        const r = axis.unit * Math.abs(z[j] - z[k]) / 2, [from, to] = [z[j], z[k]].sort((a, b) => a - b);
        return `<path class="spring-${y[j]}" stroke-width="${(3 * s).toFixed(2)}" d="M${axis.x(from).toFixed(2)} ${
          axis.y(0)}A${r.toFixed(2)} ${r.toFixed(2)} 0 0 ${1 - y[j]} ${axis.x(to).toFixed(2)} ${axis.y(0)}"/>`;
      }),
      z.map((place, j) => axis.mark([place, 0], marks[y[j]](3))));
    return {
      state: {degrees: turn % 180, energy: energy(turn), tied: first, best: found, least: energy(found)},
      text: `Axis at ${digits(turn % 180, 1)} degrees: the springs store ${digits(energy(turn), 3)}.`
        + (figure.touched ? ` The least is ${digits(energy(found), 3)}, at ${digits(found, 1)} degrees.` : ""),
    };
  };
};
