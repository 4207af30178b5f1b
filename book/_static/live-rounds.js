/* Chapters 1 and 7: the steps of SLNP one by one, on fish that can be moved. */

live.figures.rounds = function (figure, data) {
  "use strict";
  const {digits, marks} = live, {y, K, small} = data, edge = 4.4;
  const label = {W: "W-step", gamma: "gamma-step", S: "S-step", start: "first round", moved: "a fish moved"};
  let X, W, gamma, S, past, finished;  // past: the steps so far, each with the J after it

  const scatter = () => { const Z = steps.centred(X).map(row => row[0] * W[0][0] + row[1] * W[1][0]);
    return steps.sum(Z.map(z => z * z)); };
  const on_axis = () => steps.product(X, W);
  function J() {
    const Y = on_axis();
    return steps.objective(Y.map(v => Y.map(w => steps.squared(v, w))), S, gamma);
  }
  const does = {
    W: () => { W = steps.w_step(X, S, 1).W; },
    gamma: () => { gamma = steps.gamma_step(steps.neighbours(on_axis(), y, K).distances); },
    S: () => {
      const {indices, distances} = steps.neighbours(on_axis(), y, K);
      S = steps.similarity_matrix(indices, steps.s_step(distances, gamma));
    },
  };
  function note(step) {
    if (step === "moved" && past.at(-1).step === "moved") past.pop();
    past.push({step, J: J()});
  }
  function step(name) { does[name](); note(name); }
  function round() { ["W", "gamma", "S"].forEach(step); finished += 1; }
  function start() {
    S = steps.uniform_similarity(y);
    ["W", "gamma", "S"].forEach(name => does[name]());
    past = [];
    finished = 1;
    note("start");
  }
  function reset() { X = data.X.map(row => [...row]); start(); }
  reset();

  const plane = figure.panel({label: "Fish in the plane of lightness and length, the axis, and the links",
    x: [-3.6, 3.6], y: [-edge, edge], left: 18, bottom: 20, width: small ? 210 : 280});
  const curve = figure.panel({label: "J after every step", x: [0, 30], y: [0, 1], left: 44, bottom: 38,
    top: 22, width: small ? 270 : 340, height: small ? 200 : 260});
  const group = [];
  X.forEach((_, j) => figure.handle(plane, {
    label: `fish ${j + 1} of ${X.length}, kind ${y[j]}`, shape: marks[y[j]](small ? 3.2 : 4), group,
    at: () => X[j],
    move: (x, z) => {
      X[j] = [x, z];
      const size = Math.sqrt(scatter());
      W = W.map(row => row.map(w => w / size));  // the spread on the axis stays 1
      note("moved");
    },
    text: () => `lightness ${digits(X[j][0], 1)}, length ${digits(X[j][1], 1)}`,
  }));
  for (const name of ["W", "gamma", "S"]) figure.button(name, () => step(name));
  figure.button("One round", round);
  figure.button("Start again", start);
  figure.button("Put the fish back", reset);
  figure.hint("Drag a fish; press a step, or a whole round. By keyboard: Tab leads to a fish, Page Down and Page Up to "
    + "the next and the last, the arrow keys move it, with Shift in small steps.");

  function links() {
    const found = [];
    S.forEach((row, j) => row.forEach((s, k) => {
      if (Math.abs(s) > 1e-3) found.push(plane.line(X[j], X[k], s > 0 ? "link" : "link negative", 4 * Math.abs(s)));
    }));
    return found;
  }

  function draw_curve() {
    const shown = past.slice(-30), most = 1.15 * Math.max(...shown.map(one => one.J));
    const point = (one, i) => [i + 0.5, one.J / most];
    const rises = i => i && shown[i].J > shown[i - 1].J * (1 + 1e-9);
    const shape = {W: '<rect class="step" x="-4" y="-4" width="8" height="8"/>',
      gamma: '<path class="step" d="M0 -6L6 0L0 6L-6 0z"/>', S: '<circle class="step" r="4"/>',
      start: '<circle class="step" r="4"/>', moved: '<path class="cross" d="M-4 -4L4 4M-4 4L4 -4"/>'};
    curve.draw(
      curve.line([0, 0], [30, 0], "frame"), curve.line([0, 0], [0, 1], "frame"),
      curve.text([0, 1], "J", {dy: -8}), curve.text([15, 0], "steps: ■ W  ◆ gamma  ● S  × moved", {dy: 20}),
      curve.text([0, 0], "0", {dx: -6, anchor: "end"}),
      curve.text([0, shown.at(-1).J / most], digits(shown.at(-1).J, 3), {dx: -5, anchor: "end", look: "small"}),
      shown.slice(1).map((one, i) => curve.line(point(shown[i], i), point(one, i + 1),
        rises(i + 1) ? "rise" : "fall")),
      shown.map((one, i) => curve.mark(point(one, i), shape[one.step])));
  }

  return function draw() {
    const u = [W[0][0], W[1][0]], length = Math.hypot(...u), last = past.at(-1), before = past.at(-2);
    const degrees = (Math.atan2(u[1], u[0]) * 180 / Math.PI + 180) % 180;
    const mean = [0, 1].map(i => steps.sum(X.map(row => row[i])) / X.length);
    const negative = S.flat().filter(s => s < -1e-12).length;
    plane.draw(links(), plane.across(mean, u.map(w => w / length), "axis slnp"),
      plane.text([0, -edge], "lightness", {dy: 15}),
      `<text transform="translate(10 ${plane.y(0)}) rotate(-90)" text-anchor="middle">length</text>`);
    draw_curve();
    const change = !before ? "" : last.J > before.J * (1 + 1e-9) ? `, up from ${digits(before.J, 3)}`
      : last.J < before.J * (1 - 1e-9) ? `, down from ${digits(before.J, 3)}` : ", as before";
    return {
      state: {X, W, gamma, J: past.map(one => one.J), steps: past.map(one => one.step), rounds: finished, negative},
      text: `Round ${finished}, after ${last.step === "moved" ? "" : "the "}${label[last.step]}: axis at ${
        digits(degrees, 1)} degrees, J = ${digits(last.J, 3)}${change}.`
        + (negative ? ` ${negative} shares are negative: gamma is too small for these distances, renew it first.` : ""),
    };
  };
};
