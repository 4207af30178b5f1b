/* Landing page and verdict: SLNP minus LFDA in every specification on record; the reader's own is a dot.
multiverse.js, written when the book is built, has the rates (slnp_study/multiverse.py). */

live.figures.multiverse = function (figure, data) {
  "use strict";
  const {digits, clamp} = live, {margin} = live.multiverse, {small} = data;
  const {choices, groups, sets, made: as_printed} = live.multiverse[small ? "small" : "whole"];
  const of = Object.keys(sets), names = Object.keys(choices), KERNEL = names[0], known = {};
  const made = {};  // the reader's way to make each choice
  for (const name of names) made[name] = Math.max(0, choices[name].indexOf({...as_printed, ...data.made}[name]));
  const sign = x => (Math.abs(x) < 0.05 ? "" : x < 0 ? "−" : "+") + digits(Math.abs(x), 1);
  const start = {...made}, way = name => choices[name][made[name]];
  let set = data.set || of[0], by = KERNEL;  // by: the choice that has a curve for each of its ways

  /** Rates of one side; a choice of length 1 is none of this side's. Two bytes a rate. */
  function unpack({shape, rates}) {
    const bytes = Uint8Array.from(atob(rates), c => c.charCodeAt(0)), numbers = new Uint16Array(bytes.buffer);
    return spec => numbers[spec.reduce((place, way, i) => (shape[i] > 1 ? place * shape[i] + way : place), 0)] / 655.35;
  }

  /** All specifications of the set, from the smallest lead to the largest. */
  function universe() {
    if (known[set]) return known[set];
    const [ours, theirs] = ["ours", "theirs"].map(side => unpack(sets[set][side]));
    const specs = Object.values(choices).reduce((all, ways) => all.flatMap(spec => ways.map((_, i) => [...spec, i])), [[]]);
    return known[set] = specs.map(spec => ({spec, lead: ours(spec) - theirs(spec)})).sort((a, b) => a.lead - b.lead);
  }

  const curves = () => known[`${set} ${by}`] ??= by
    ? choices[by].map((_, way) => universe().filter(one => one.spec[names.indexOf(by)] === way)) : [universe()];
  const chosen = () => curves()[by ? made[by] : 0];
  const rank = () => chosen().findIndex(one => names.every((name, i) => one.spec[i] === made[name]));
  const place = () => (rank() + 0.5) / chosen().length, lead = () => chosen()[rank()].lead;
  const take = at => chosen()[clamp(at, [0, chosen().length - 1])].spec.forEach((to, i) => { made[names[i]] = to; });

  const ends = of.flatMap(name => [sets[name].from, sets[name].to]);
  const y = [Math.floor(Math.min(...ends)) - 0.5, Math.ceil(Math.max(...ends))];
  const wide = figure.wide, plot = figure.panel({label: "SLNP minus LFDA in all specifications, sorted", x: [0, 1], y,
    width: wide ? 640 : 340, height: (wide ? 300 : 240) - (small ? 50 : 0), left: 34, right: 116, top: 22, bottom: 22});
  if (!small) figure.handle(plot, {
    label: "your specification", shape: '<circle class="knob" r="7"/>', at: () => [place(), lead()],
    move: x => take(Math.floor(x * chosen().length)), value: place, limits: [0, 1], step: 0.01,
    nudge: count => take(rank() + Math.sign(count) * Math.ceil(Math.abs(count) * chosen().length / 100)),
    text: () => `lead ${sign(lead())}; ${names.map(name => `${name}: ${way(name)}`).join(", ")}`,
  });
  figure.panels.after(figure.status);
  figure.slider({label: KERNEL, limits: [0, choices[KERNEL].length - 1], step: 1, get: () => made[KERNEL],
    set: to => { made[KERNEL] = to; }, text: () => way(KERNEL)});
  figure.choice({label: "data set", ways: () => of, get: () => of.indexOf(set), set: i => { set = of[i]; }});
  if (!small) {
    figure.choice({label: "a curve for each", ways: () => [...names, "nothing (one curve)"],
      get: () => (by ? names.indexOf(by) : names.length), set: i => { by = names[i]; }});
    figure.button("Reset all choices", () => Object.assign(made, start));
    for (const [title, of_group] of Object.entries(groups)) {
      figure.group(title);
      of_group.forEach(name => figure.choice(
        {label: name, ways: () => choices[name], get: () => made[name], set: to => { made[name] = to; }}));
    }
    figure.hint("Drag the dot along its curve, and the slider and the lists follow. Each curve holds all combinations of the "
      + "other choices. Leads are means over three columns of the paper's table, and our rates also over three splits. "
      + "By keyboard: Tab chooses, the arrow keys move, with Shift in small steps.");
  }

  const path = (curve, look) => plot.path(curve.map((one, i) => [(i + 0.5) / curve.length, one.lead])
    .filter((_, i) => i % Math.ceil(curve.length / 200) === 0 || i === curve.length - 1), look);

  /** Names of the curves and of the dashed line, at their right ends but never on one another. */
  function labels(printed) {
    const named = [[printed, `printed ${sign(printed)}`], ...(by ? curves() : []).map(
      (curve, i) => [curve.at(-1).lead, choices[by][i], i === made[by] ? "strong small" : "small"])];
    let last = Infinity;
    return named.sort((a, b) => a[0] - b[0]).map(([at, words, look = "small"], i) => {
      last = Math.max(Math.min(plot.y(at), last - 13), plot.y(y[1]) + 13 * (named.length - 1 - i));
      const spot = [1, (plot.y(0) - last) / (plot.y(0) - plot.y(1))];
      return plot.text(spot, words, {dx: 14, anchor: "start", look})
        + plot.mark(spot, `<path class="frame" d="M3 ${plot.y(at) - last}L11 0"/>`);
    });
  }

  return function draw() {
    const {printed} = sets[set], now = lead(), step = y[1] - y[0] > 20 ? 5 : 2, count = chosen().length.toLocaleString("en");
    plot.draw(
      `<rect class="margin" x="${plot.x(0)}" width="${plot.x(1) - plot.x(0)}" y="${plot.y(margin)}" height="${
        plot.y(-margin) - plot.y(margin)}"/>`,
      plot.text([0, y[1]], "SLNP minus its rival LFDA, in points", {dx: -28, dy: -9, anchor: "start"}),
      Array.from({length: 21}, (_, i) => step * (i - 10)).filter(v => v >= y[0] && v <= y[1]).map(
        v => [plot.text([0, v], v < 0 ? `−${-v}` : v && `+${v}`, {dx: -5, anchor: "end"}), plot.line([0, v], [0.01, v], "frame")]),
      plot.line([0, 0], [1, 0], "frame"), plot.line([0, y[0]], [0, y[1]], "frame"),
      plot.line([0, printed], [1, printed], "printed"),
      plot.text([0, y[0]], small ? "each curve: 3 bases × 5 forms of SLNP, sorted"
        : `${by && by !== KERNEL ? `${by}: ` : ""}${count} specifications${by ? " on each curve" : ""}, sorted`, {dx: -28, dy: 16, anchor: "start", look: "small"}),
      small ? plot.text([1, -0.6], "within a point of zero", {dx: -4, anchor: "end", look: "small"}) : "",
      curves().map((curve, i) => path(curve, `way-${i}`)), path(chosen(), `way-${by ? made[by] : 0} chosen`), labels(printed),
      small ? plot.mark([place(), now], '<circle class="knob" r="7"/>') : "",
      plot.text([place(), now], sign(now),
        {dy: -15, look: "strong", anchor: place() < 0.1 ? "start" : place() > 0.9 ? "end" : "middle"}));
    return {
      state: {set, made: Object.fromEntries(names.map(name => [name, way(name)])), lead: now},
      text: small ? `The dot: ${sign(now)} on ${set} (${way("basis")} axes, ${way("SLNP")}). The paper prints ${sign(printed)}.`
        : `On ${set}: ${sign(now)} points, printed ${sign(printed)} for these columns. Yours is number ${(rank() + 1).toLocaleString("en")
          } of ${count}, and ${chosen().filter(one => one.lead >= printed).length.toLocaleString("en")} reach the printed lead.`,
    };
  };
};
