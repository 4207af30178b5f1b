/* Chapter 5: one fish and its candidates. gamma is the slope of the line, and J rises with it. */

live.figures.gamma = function (figure, data) {
  "use strict";
  const {digits, clamp} = live, {d, K} = data, row = d.slice(0, K), limits = [0.05, 6];
  const bounds = steps.gamma_bounds([d.slice(0, K + 1)]), low = bounds.lower[0], high = bounds.upper[0];
  const rule = steps.gamma_step([row])[0];
  let gamma = data.gamma;
  const shares = g => steps.exact_s_step([d], [g])[0];
  const J = g => steps.objective([d], [shares(g)], [g]);
  const J_of_K = g => steps.objective([row], steps.s_step([row], [g]), [g]);
  const set = value => { gamma = clamp(value, limits); };
  /** Where the line meets the axis, 2 gamma eta, which is as much as to say gamma. */
  const cut = () => { const s = shares(gamma); return d[0] + 2 * gamma * s[0]; };

  const lines = figure.panel({label: "Share of each candidate against its squared distance",
    x: [0, 4], y: [-0.22, 1.05], height: 270, left: 40, bottom: 42, top: 20});
  const curve = figure.panel({label: "J against gamma", x: [0, 6], y: [0, 2.4], height: 270, left: 40, bottom: 42,
    top: 20});
  figure.handle(lines, {
    label: "where the line meets the axis", shape: '<path class="knob" d="M-7 0L0 -9L7 0L0 9z"/>',
    at: () => [clamp(cut(), lines.xlim), 0],
    move: x => set(steps.sum(d.map(distance => Math.max(x - distance, 0))) / 2),
    nudge: count => set(gamma + 0.05 * count), step: 0.01, value: cut, limits: [0, 4],
    text: () => `squared distance ${digits(cut(), 2)}, gamma ${digits(gamma, 2)}`,
  });
  figure.handle(curve, {
    label: "gamma", shape: '<circle class="knob" r="8"/>',
    at: () => [gamma, J(gamma)], move: set, nudge: count => set(gamma + 0.05 * count), step: 0.05,
    value: () => gamma, limits, text: () => `gamma ${digits(gamma, 2)}`,
  });
  [["Lower bound", low], ["The paper's rule", rule], ["Upper bound", high]].forEach(
    ([label, value]) => figure.button(label, () => set(value)));
  figure.hint("Drag the knob on the curve, or the point where the line meets the axis. By keyboard: Tab chooses, the "
    + "arrow keys move, with Shift in small steps.");

  const ticks = (panel, values, places, name) => [
    panel.line([panel.xlim[0], places], [panel.xlim[1], places], "frame"),
    values.map(v => panel.text([v, places], v, {dy: 16})),
    panel.text([(panel.xlim[0] + panel.xlim[1]) / 2, panel.ylim[0]], name, {dy: 34})];
  const upright = (panel, values) => [
    panel.line([0, panel.ylim[0]], [0, panel.ylim[1]], "frame"),
    values.map(v => panel.text([0, v], v, {dx: -6, anchor: "end"}))];

  function draw_curve() {
    const grid = Array.from({length: 120}, (_, i) => limits[0] + (limits[1] - limits[0]) * i / 119);
    const inside = points => points.filter(p => p[1] >= 0);
    curve.background([
      `<rect class="band" x="${curve.x(low)}" width="${curve.x(high) - curve.x(low)}" y="${curve.y(2.4)}" height="${
        curve.y(0) - curve.y(2.4)}"/>`,
      ticks(curve, [0, 1, 2, 3, 4, 5, 6], 0, "gamma"), upright(curve, [0, 1, 2]),
      curve.text([0, 2.4], "J", {dx: -6, anchor: "end"}),
      curve.path(grid.map(g => [g, J(g)]), "curve"),
      curve.path(inside(grid.map(g => [g, J_of_K(g)])), "curve-k"),
      curve.text([(low + high) / 2, 2.4], `${K} neighbours`, {dy: -7, look: "small"}),
      curve.mark([rule, J(rule)], '<path class="rule" d="M0 -6L6 0L0 6L-6 0z"/>'),
    ].flat(Infinity).join(""));
  }
  draw_curve();
  lines.background([ticks(lines, [1, 2, 3, 4], 0, "squared distance d"), upright(lines, [0, 0.5, 1]),
    lines.text([0, 1.05], "share s", {dx: -34, dy: -8, anchor: "start"})].flat(Infinity).join(""));

  function words(count, least) {
    if (gamma < low) return `below the lower bound ${digits(low, 2)}: the line meets the axis before the ${K}th `
      + `candidate, ${count} are left. The formula for ${K} would give the last a share of ${digits(least, 2)}.`;
    if (gamma > high) return `above the upper bound ${digits(high, 2)}: the best shares have ${count} neighbours, and `
      + `stopping at ${K} cuts ${count - K} off.`;
    return `between the bounds ${digits(low, 2)} and ${digits(high, 2)}: exactly ${count} neighbours.`;
  }

  return function draw() {
    const s = shares(gamma), count = s.filter(share => share > 0).length, end = cut();
    const formula = steps.s_step([row], [gamma])[0], least = Math.min(...formula);
    const level = end / (2 * gamma), K_level = formula[0] + d[0] / (2 * gamma);
    const at_bottom = 2 * gamma * (K_level + 0.22);
    lines.draw(
      lines.path([[0, K_level], [at_bottom, -0.22]], "curve-k"),
      lines.path([[0, level], [end, 0], [Math.max(end, 4), 0]], "line"),
      row.map((distance, k) => lines.mark([distance, formula[k]], '<circle class="by-formula" r="4"/>')),
      d.filter(distance => distance < 4).map((distance, k) => lines.mark([distance, s[k]],
        k < K ? '<circle class="kind-0" r="4.5"/>' : '<rect class="other" x="-4" y="-4" width="8" height="8"/>')));
    return {
      state: {gamma, lower: low, upper: high, rule, s, J: J(gamma), J_of_K: J_of_K(gamma), count, least},
      text: figure.touched ? `gamma = ${digits(gamma, 2)}, ${words(count, least)} J = ${digits(J(gamma), 3)}; the paper's `
        + `rule is gamma = ${digits(rule, 2)}.` : `gamma = ${digits(gamma, 2)}: ${count} neighbours, J = ${digits(J(gamma), 3)}.`,
    };
  };
};
