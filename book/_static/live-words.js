/* Chapter 9: an estimate, two intervals, a margin. Which of the four words follows, and why? */

/** The word for one difference, and its two facts; narrow is the 90 % interval's share of the 95 % one. */
live.word = function (points, interval, margin, narrow) {
  "use strict";
  const other = Math.abs(points) > interval, within = Math.abs(points) + narrow * interval < margin;
  const side = points > 0 ? "ahead" : "behind";
  return {other, within, word: other ? side + (within ? " by less than the margin" : "") : within ? "level" : "undecided"};
};

live.figures.words = function (figure, data) {
  "use strict";
  const {digits, clamp} = live, {narrow} = data, edge = 4, heights = {these: 0.55, fresh: 0.15};
  let {points, these, fresh, margin} = data, scope = "these";
  const signed = x => (x > 0 ? "+" : x < 0 ? "−" : "") + digits(Math.abs(x), 2);
  const names = {these: "on these test images", fresh: "for new images"};

  const axis = figure.panel({label: "The difference and its two intervals", x: [-edge, edge], y: [0, 1], width: 360,
    height: 190, left: 16, right: 16, top: 14, bottom: 40});
  const table = figure.panel({label: "Two facts, four words", x: [0, 3], y: [0, 3], width: 340, height: 126, left: 0,
    right: 0, top: 4, bottom: 4});
  figure.handle(axis, {
    label: "estimate", shape: '<path class="knob" d="M-7 -9H7L0 8z"/>', at: () => [points, 0.9],
    move: x => { points = x; }, nudge: count => { points = clamp(points + 0.1 * count, axis.xlim); },
    value: () => points, text: () => `${signed(points)} points`,
  });
  const ends = {  // the wider interval is never shorter than the other
    these: size => { these = clamp(size, [0.05, edge]); fresh = Math.max(fresh, these); },
    fresh: size => { fresh = clamp(size, [0.05, edge]); these = Math.min(these, fresh); },
  };
  for (const [name, set] of Object.entries(ends)) {
    const size = () => (name === "these" ? these : fresh);
    figure.handle(axis, {
      label: `interval ${names[name]}`, shape: '<circle class="knob" r="7"/>',
      at: () => [clamp(points + size(), axis.xlim), heights[name]], move: x => set(x - points),
      nudge: count => set(size() + 0.05 * count), step: 0.05, value: size, limits: [0.05, edge], text: () => `± ${digits(size(), 2)}`,
    });
  }
  figure.slider({label: "Margin", limits: [0.2, 3], text: () => digits(margin, 2), get: () => margin,
    set: value => { margin = value; }});
  figure.button("These images", () => { scope = "these"; });
  figure.button("New ones", () => { scope = "fresh"; });
  figure.hint("Drag the triangle, or the round end of an interval. The band is the margin. A line is the 95 % interval, "
    + "its thick part the 90 % one.");

  const box = (panel, [x, y], [width, height], look) => `<rect class="${look}" x="${panel.x(x)}" y="${panel.y(y + height)}" `
    + `width="${panel.x(x + width) - panel.x(x)}" height="${panel.y(y) - panel.y(y + height)}"/>`;
  const put = value => clamp(value, axis.xlim);

  function bar(name, size) {
    const y = heights[name], look = name === scope ? "grip" : "frame", thick = narrow * size;
    return [
      axis.line([put(points - size), y], [put(points + size), y], look),
      axis.line([put(points - thick), y], [put(points + thick), y], `${look} broad`),
      axis.text([-edge, y + 0.13], name === "these" ? "these images" : "new images", {anchor: "start", look: name === scope ? "strong" : ""})];
  }

  return function draw() {
    const interval = scope === "these" ? these : fresh, {other, within, word} = live.word(points, interval, margin, narrow);
    const range = size => `${signed(points - size)} to ${signed(points + size)}`;
    axis.draw(box(axis, [-margin, 0], [2 * margin, 1], "band"), axis.line([0, 0], [0, 1], "dotted"),
      axis.line([-edge, 0], [edge, 0], "frame"), [-4, -3, -2, -1, 0, 1, 2, 3, 4].map(x => axis.text([x, 0], x < 0 ? `−${-x}` : x, {dy: 16})),
      axis.text([0, 0], "points, first method minus second", {dy: 33}), bar("these", these), bar("fresh", fresh),
      axis.line([points, heights.fresh - 0.08], [points, heights.these + 0.08], "grip"));
    const side = points > 0 ? "ahead" : "behind";
    table.draw(
      figure.touched ? box(table, [within ? 1 : 2, other ? 1 : 0], [1, 1], "band") : "",
      [0, 1, 2].map(y => table.line([0, y], [3, y], "frame")), [1, 2].map(x => table.line([x, 0], [x, 3], "frame")),
      [["90 % interval", "inside the margin", 1.5, 2.5], ["90 % interval", "not inside", 2.5, 2.5],
        ["95 % interval", "without zero", 0.5, 1.5], [`${side} by less`, "than the margin", 1.5, 1.5], [side, "", 2.5, 1.5],
        ["95 % interval", "with zero", 0.5, 0.5], ["level", "", 1.5, 0.5], ["undecided", "", 2.5, 0.5]].map(
        ([first, second, x, y]) => [table.text([x, y], first, {dy: second ? -3 : 4, look: "small"}),
          table.text([x, y], second, {dy: 12, look: "small"})]));
    const why = `The 95 % interval, ${range(interval)}, ${other ? "leaves out" : "holds"} zero. The 90 % interval, ${
      range(narrow * interval)}, ${within ? "is inside" : "isn't inside"} the margin. So ${names[scope]}: ${word}.`;
    return {
      state: {points, interval, these, fresh, margin, scope, word},
      text: figure.touched ? why : `${signed(points)} ± ${digits(interval, 2)} ${names[scope]}, margin ${
        digits(margin, 2)}. Which word is it?`,
    };
  };
};
