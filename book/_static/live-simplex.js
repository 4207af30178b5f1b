/* Chapter 4: three candidates. The point that is projected on the triangle, and the same as water over stones. */

live.figures.simplex = function (figure, data) {
  "use strict";
  const {digits, clamp} = live, names = data.names, height = Math.sqrt(3) / 2;
  const corners = [[0, 0], [1, 0], [0.5, height]], top = 1.6;  // of the tank
  let d, gamma;
  function reset() { d = [...data.d]; gamma = data.gamma; }
  reset();

  const triangle = figure.panel({label: "The triangle of the shares", x: [-0.7, 1.7], y: [-0.85, 1.05]});
  const tank = figure.panel({label: "Stones in a tank of water", x: [-0.1, 3.1], y: [0, top], height: 250,
    bottom: 40, left: 30, top: 24});
  const flat = s => [0, 1].map(i => steps.sum(s.map((share, k) => share * corners[k][i])));
  const target = () => steps.s_step([d], [gamma])[0];  // sum 1, but no sign kept
  const q = k => d[k] / (2 * gamma);

  const within = ([x, y]) => [clamp(x, triangle.xlim), clamp(y, triangle.ylim)];

  /** The distances that put the projected point here; the least of them stays. */
  function aim(x, y) {
    const third = y / height, second = x - third / 2, t = [1 - second - third, second, third];
    const least = Math.min(...d), most = Math.max(...t);
    d = t.map(share => least + 2 * gamma * (most - share));
  }

  figure.handle(triangle, {
    label: "point that is projected", shape: '<circle class="target" r="7"/>',
    at: () => within(flat(target())), move: aim, step: 0.05,
    text: () => `shares before the walk ${target().map(share => digits(share, 2)).join(", ")}`,
  });
  names.forEach((name, k) => figure.handle(tank, {
    label: `distance of the ${name} neighbour`,
    shape: '<path class="grip" d="M-9 -3H9M-9 3H9"/>',
    at: () => [k + 0.5, Math.min(q(k), top)],
    move: (x, y) => { d[k] = 2 * gamma * y; },
    nudge: count => { d[k] = Math.max(0, d[k] + 0.1 * count); },
    value: () => d[k], limits: [0, 20],
    text: () => `squared distance ${digits(d[k], 2)}, height of the stone ${digits(q(k), 2)}`,
  }));
  figure.slider({label: "gamma", limits: [-1, 1.3], get: () => Math.log10(gamma),
    set: value => { gamma = 10 ** value; }, text: () => digits(gamma, 2)});
  figure.button("Put everything back", reset);
  figure.hint("Drag the hollow point, a stone, or gamma. By keyboard: Tab chooses, the arrow keys move, with Shift "
    + "in small steps.");

  function draw_tank(s, eta) {
    return names.map((name, k) => {
      const stone = Math.min(q(k), top), box = (from, to, look) => to > from
        ? `<rect class="${look}" x="${tank.x(k + 0.06)}" width="${tank.x(0.88) - tank.x(0)}" y="${
          tank.y(to)}" height="${tank.y(from) - tank.y(to)}"/>` : "";
      return [box(0, stone, "stone"), s[k] > 0 ? box(q(k), Math.min(eta, top), "water") : "",
        tank.text([k + 0.5, 0], name, {dy: 15}),
        tank.text([k + 0.5, 0], s[k] > 0 ? digits(s[k], 2) : "dry", {dy: 31, look: "strong"}),
        q(k) > top ? tank.text([k + 0.5, top], `up to ${digits(q(k), 1)}`, {dy: -12, look: "small"}) : ""];
    });
  }

  return function draw() {
    const s = steps.exact_s_step([d], [gamma])[0], support = s.filter(share => share > 0).length;
    const wet = s.findIndex(share => share > 0), eta = s[wet] + q(wet);
    triangle.draw(
      triangle.path([...corners, corners[0]], "simplex"),
      names.map((name, k) => triangle.text(corners[k], `all to ${name}`,
        {dy: k === 2 ? -8 : 4, dx: [-8, 8, 0][k], anchor: ["end", "start", "middle"][k]})),
      triangle.line(flat(target()), flat(s), "walk"), triangle.mark(flat(s), '<circle class="found" r="5"/>'));
    tank.draw(
      draw_tank(s, eta),
      eta < top ? [tank.line([-0.02, eta], [3.02, eta], "level"),
        tank.text([-0.02, eta], "η", {dx: -9})] : "",
      tank.line([0, 0], [3, 0], "axis"));
    const dry = names.filter((_, k) => !(s[k] > 0));
    return {
      state: {d, gamma, s, eta, support},
      text: `gamma = ${digits(gamma, 2)}: shares ${s.map(share => digits(share, 2)).join(", ")} for the `
        + `${names.join(", ")} neighbour. The water stands at eta = ${digits(eta, 2)}; `
        + (dry.length ? `dry: ${dry.join(" and ")}.` : "no stone is dry."),
    };
  };
};
