/* Chapter 1: three fish, and an axis to turn. On which axes is b' the nearest to a', on which c'? */

live.figures.toy = function (figure, data) {
  "use strict";
  const {digits, marks} = live, names = ["a", "b", "c"], pivot = [3, 2], radius = 2.1;
  let points, turn;  // the axis at turn degrees, of a whole turn
  function reset() { points = data.points.map(p => [...p]); turn = data.degrees; }
  reset();

  const plane = figure.panel({label: "Three fish in the plane of lightness and length, and an axis",
    x: [-0.4, 6.4], y: [-0.4, 4.4], bottom: 20, left: 20});
  const flat = figure.panel({label: "The axis, laid flat", x: [-4.4, 4.4], y: [-1, 1], height: 110});
  const at = degrees => [Math.cos(degrees * Math.PI / 180), Math.sin(degrees * Math.PI / 180)];
  const on_ring = degrees => at(degrees).map((u, i) => pivot[i] + radius * u);
  points.forEach((_, i) => figure.handle(plane, {
    label: `fish ${names[i]}`,
    shape: marks[data.labels[i]](7) + `<text x="11" y="-7">${names[i]}</text>`,
    at: () => points[i],
    move: (x, y) => { points[i] = [x, y]; },
    text: () => `lightness ${digits(points[i][0], 1)}, length ${digits(points[i][1], 1)}`,
  }));
  figure.handle(plane, {
    label: "angle of the axis", shape: '<circle class="axis-knob" r="8"/>',
    at: () => on_ring(turn),
    move: (x, y) => { turn = (Math.atan2(y - pivot[1], x - pivot[0]) * 180 / Math.PI + 360) % 360; },
    nudge: steps => { turn = (turn + steps + 360) % 360; },
    step: 1, value: () => turn % 180, limits: [0, 180],
    text: () => `${digits(turn % 180, 1)} degrees`,
  });
  figure.button("Put everything back", reset);
  figure.hint("Dots are one kind of fish, the triangle is the other; a', b', c' are their shadows on the axis. Drag a "
    + "fish, or the knob of the axis: from then on the ring shows for every axis whose shadow is nearest to a', thick "
    + "where it is c', dashed where it is b'. By keyboard: Tab chooses, the arrow keys move, with Shift in small steps.");

  /** From where to where, in degrees, c' is the nearest: the product of the chapter is negative there. */
  function range_of_c() {
    const [p, q] = [1, 2].map(i => points[i].map((x, k) => x - points[0][k]));
    const normals = [[q[0] - p[0], q[1] - p[1]], [q[0] + p[0], q[1] + p[1]]];
    if (normals.some(n => Math.hypot(...n) < 1e-9)) return null;  // equally near on every axis
    const perpendicular = n => (Math.atan2(n[0], -n[1]) * 180 / Math.PI + 360) % 180;
    const [low, high] = normals.map(perpendicular).sort((s, t) => s - t);
    const inside = perpendicular(q);  // there c' falls on a'
    return low < inside && inside < high ? [low, high] : [high, low + 180];
  }

  function arc(from, to, look) {
    const n = Math.max(2, Math.ceil((to - from) / 3));
    const points = Array.from({length: n + 1}, (_, i) => on_ring(from + (to - from) * i / n));
    return plane.path(points, look);
  }

  function draw_arcs(range) {
    if (!figure.touched) return arc(0, 360, "ring-plain");  // the arcs are the answer to the question above
    if (!range) return "";
    const [low, high] = range, label = (degrees, name) => [0, 180].map(half => {
      const u = at(degrees + half);
      return plane.text(pivot.map((z, i) => z + (radius - 0.26) * u[i]), name, {look: "small"});
    });
    return [0, 180].map(half => [
      arc(low + half, high + half, "arc-c"), arc(high + half, low + 180 + half, "arc-b"),
    ]).concat(label((2 * low + high) / 3, "c"), label((low + high) / 2 + 90, "b"));
  }

  /** In the free corner: what the two looks of the ring mean. */
  function draw_key() {
    const right = plane.xlim[1], top = plane.ylim[1], row = n => top - 15 * n / plane.unit;
    const entry = (n, look, name) => [
      plane.line([right - 50 / plane.unit, row(n)], [right - 20 / plane.unit, row(n)], look),
      plane.text([right, row(n)], name, {look: "small", anchor: "end"})];
    return [plane.text([right, top], "nearest to a'", {look: "small", anchor: "end"}),
      entry(1, "arc-c", "c'"), entry(2, "arc-b", "b'")];
  }

  return function draw() {
    const u = at(turn), position = points.map(p => u[0] * (p[0] - pivot[0]) + u[1] * (p[1] - pivot[1]));
    const foot = z => pivot.map((centre, i) => centre + z * u[i]);
    const nearest = steps.neighbours(position.map(z => [z]), [0, 0, 0], 1).indices[0][0];
    const in_plane = steps.neighbours(points, [0, 0, 0], 1).indices[0][0];
    const range = range_of_c();
    plane.draw(
      plane.text([plane.xlim[1], plane.ylim[0]], "lightness", {dy: 15, anchor: "end"}),
      `<text transform="translate(13 ${plane.y(2)}) rotate(-90)" text-anchor="middle">length</text>`,
      figure.touched ? draw_key() : "", draw_arcs(range), plane.across(pivot, u, "axis"),
      points.map((p, i) => [plane.line(p, foot(position[i]), "dotted"),
        plane.mark(foot(position[i]), marks[data.labels[i]](3.5))]));
    flat.draw(
      flat.text([0, 1], "the axis, laid flat", {dy: 6}), flat.line([-4.4, 0], [4.4, 0], "axis"),
      flat.mark([position[nearest], 0], '<circle class="ring" r="13"/>'),
      points.map((_, i) => [flat.mark([position[i], 0], marks[data.labels[i]](6)),
        flat.text([position[i], 0], names[i] + "'", {dy: [-18, -18, 28][i]})]));
    const [to_b, to_c] = [1, 2].map(i => Math.abs(position[i] - position[0]));
    return {
      state: {points, degrees: turn % 180, nearest: names[nearest], range},
      text: `Axis at ${digits(turn % 180, 1)} degrees: b' is ${digits(to_b, 2)} from a', c' is ${digits(to_c, 2)}, `
        + `so ${names[nearest]}' is the nearest; in the plane it is ${names[in_plane]}.`
        + (!figure.touched ? "" : range ? ` c' is the nearest from ${digits(range[0], 1)} to ${digits(range[1] % 180, 1)} degrees, on `
          + `${digits((range[1] - range[0]) / 1.8, 1)} % of all axes.`
          : " b' and c' are equally near on every axis."),
    };
  };
};
