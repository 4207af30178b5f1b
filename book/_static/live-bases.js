/* Chapter 6: the nearest fish by two distances of one plane, a circle against an ellipse. */

live.figures.bases = function (figure, data) {
  "use strict";
  const {digits, marks} = live, {X, y} = data;
  const W = steps.w_step(X, steps.uniform_similarity(y), 2).W;  // in the plane every whitened W gives this distance
  const distance = {
    orthonormal: delta => Math.hypot(...delta),
    whitened: delta => Math.hypot(...steps.product([delta], W)[0]),
  };
  let query = [...data.query];
  /** Number of the nearest fish, and how far it is. */
  function nearest(basis, from) {
    const all = X.map(row => distance[basis](row.map((x, i) => x - from[i])));
    const least = Math.min(...all);
    return {index: all.indexOf(least), distance: least};
  }

  const plane = figure.panel({label: "Fish in the plane of lightness and length, and a star", width: figure.wide ? 540 : 400,
    x: [-11, 11], y: [-5, 5], left: 20, bottom: 24});
  figure.handle(plane, {
    label: "new fish, the star", step: 0.2,
    shape: '<path class="star" d="M0 -11L3 -4L10.5 -3.4L4.8 1.5L6.5 9L0 5L-6.5 9L-4.8 1.5L-10.5 -3.4L-3 -4z"/>',
    at: () => query, move: (x, z) => { query = [x, z]; },
    text: () => `lightness ${digits(query[0], 1)}, length ${digits(query[1], 1)}`,
  });
  figure.button("Put the star back", () => { query = [...data.query]; });
  figure.hint("Drag the star; on the tinted ground the two distances name different kinds. By keyboard: Tab chooses it, "
    + "the arrow keys move it, with Shift in small steps.");

  /** Where the two disagree about the kind, in cells of a fifth by a fifth. */
  function disagreement() {
    const cells = [], size = 0.2, wide = plane.x(size) - plane.x(0);
    for (let a = plane.xlim[0]; a < plane.xlim[1]; a += size)
      for (let b = plane.ylim[0]; b < plane.ylim[1]; b += size) {
        const kinds = Object.keys(distance).map(basis => y[nearest(basis, [a + size / 2, b + size / 2]).index]);
        if (kinds[0] !== kinds[1])
          cells.push(`M${plane.x(a).toFixed(1)} ${plane.y(b + size).toFixed(1)}h${wide}v${wide}h${-wide}z`);
      }
    return `<path class="tint" d="${cells.join("")}"/>`;
  }
  plane.background([disagreement(), X.map((row, j) => plane.mark(row, marks[y[j]](3.8))),
    plane.text([0, -5], "lightness", {dy: 17}),
    `<text transform="translate(13 ${plane.y(0)}) rotate(-90)" text-anchor="middle">length</text>`,
  ].flat(Infinity).join(""));

  /** All points at one distance from the star: W'delta runs round a circle. */
  function ring(A, radius) {
    const det = A[0][0] * A[1][1] - A[0][1] * A[1][0];
    return Array.from({length: 91}, (_, i) => {
      const c = radius * Math.cos(i * Math.PI / 45), s = radius * Math.sin(i * Math.PI / 45);
      return [query[0] + (A[1][1] * c - A[1][0] * s) / det, query[1] + (A[0][0] * s - A[0][1] * c) / det];
    });
  }

  return function draw() {
    const [round, long] = Object.keys(distance).map(basis => nearest(basis, query));
    plane.draw(
      plane.path(ring([[1, 0], [0, 1]], round.distance), "circle"),
      plane.path(ring(W, long.distance), "ellipse"),
      [round, long].map(found => plane.mark(X[found.index], '<circle class="ring" r="8"/>')),
      plane.text([-11, 5], "—  circle: orthonormal", {anchor: "start", dy: 4}),
      plane.text([-11, 5], "- -  ellipse: whitened", {anchor: "start", dy: 20}));
    const kinds = [round, long].map(found => y[found.index]);
    return {
      state: {query, orthonormal: round, whitened: long, kinds},
      text: `Star at lightness ${digits(query[0], 1)}, length ${digits(query[1], 1)}. Nearest by the circle: fish ${
        round.index + 1}, kind ${kinds[0]}; by the ellipse: fish ${long.index + 1}, kind ${kinds[1]}. `
        + (kinds[0] !== kinds[1] ? "The two disagree about the kind."
          : round.index !== long.index ? "Two fish, one kind." : "The same fish."),
    };
  };
};
