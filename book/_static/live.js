/* What the live figures share: panels, handles for mouse, touch and keyboard, the line that tells the state.

<div class="live" data-figure="toy" data-given="{...}"></div> asks for the figure that toy.js draws from the data
given. That script and steps.js are fetched only where a page asks for them. When the figure stands, the still
picture beside it is hidden; without scripts, and on paper, it is the still picture that is seen. */

var live = (function () {
  "use strict";
  const folder = document.currentScript.src.replace(/[^/]*$/, "");
  const figures = {};  // name -> function(figure, data), which returns the function that draws

  const escape = text => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;");
  const digits = (x, n) => (Math.abs(x) < 0.5 / 10 ** n ? 0 : x).toFixed(n);  // no -0.00
  const clamp = (x, [low, high]) => Math.min(Math.max(x, low), high);

  function element(tag, attributes, parent) {
    const isSvg = ["svg", "g"].includes(tag);
    const node = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", tag)
      : document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    parent.append(node);
    return node;
  }

  /** Marks of the classes, as in the book's other figures; they are drawn around (0, 0). */
  const marks = [
    size => `<circle class="kind-0" r="${size}"/>`,
    size => `<path class="kind-1" d="M0 ${-1.2 * size}L${1.1 * size} ${size}H${-1.1 * size}z"/>`,
  ];

  /** A drawing with its own coordinates: x and y turn data into places, the others return markup. */
  function panel(figure, {label, x, y, width = 340, height, left = 12, right = 12, top = 12, bottom = 12}) {
    const unit = (width - left - right) / (x[1] - x[0]);
    height ??= top + bottom + unit * (y[1] - y[0]);  // without a height: the same unit both ways
    const up = (height - top - bottom) / (y[1] - y[0]);
    const svg = element("svg", {viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label,
      style: `flex-basis: ${0.88 * width}px; max-width: ${1.25 * width}px`}, figure.panels);  // so text stays legible
    const layers = [1, 2].map(() => element("g", {"aria-hidden": "true"}, svg));
    const here = {
      svg, xlim: x, ylim: y, width, height, unit, handles: [],
      x: value => left + unit * (value - x[0]),
      y: value => height - bottom - up * (value - y[0]),
      background: markup => { layers[0].innerHTML = markup; },
      draw: (...markup) => { layers[1].innerHTML = markup.flat(Infinity).join(""); },
      path: (points, look) => `<path class="${look}" d="M${points.map(
        p => `${here.x(p[0]).toFixed(2)} ${here.y(p[1]).toFixed(2)}`).join("L")}"/>`,
      line: (p, q, look, width) => `<line class="${look}" x1="${here.x(p[0]).toFixed(2)}" y1="${
        here.y(p[1]).toFixed(2)}" x2="${here.x(q[0]).toFixed(2)}" y2="${here.y(q[1]).toFixed(2)}"${
        width === undefined ? "" : ` stroke-width="${width.toFixed(2)}"`}/>`,
      mark: (p, shape) => `<g transform="translate(${here.x(p[0]).toFixed(2)} ${
        here.y(p[1]).toFixed(2)})">${shape}</g>`,
      text: (p, words, {look = "", dx = 0, dy = 4, anchor = "middle"} = {}) => `<text class="${look}" x="${
        (here.x(p[0]) + dx).toFixed(2)}" y="${(here.y(p[1]) + dy).toFixed(2)}" text-anchor="${anchor}">${
        escape(words)}</text>`,
      /** A line from edge to edge through a point of the panel. */
      across: (p, u, look) => here.line(
        [p[0] - 99 * u[0], p[1] - 99 * u[1]], [p[0] + 99 * u[0], p[1] + 99 * u[1]], look),
    };
    svg.addEventListener("pointerdown", event => grasp(figure, here, event));
    // A finger on a handle drags it; anywhere else it scrolls the page.
    svg.addEventListener("touchstart", event => {
      if (event.target.closest(".live-handle")) event.preventDefault();
    }, {passive: false});
    return here;
  }

  /** Where the pointer is, in the units of the panel's viewBox. */
  function place(panel, event) {
    const matrix = panel.svg.getScreenCTM().inverse();
    return [matrix.a * event.clientX + matrix.e, matrix.d * event.clientY + matrix.f];
  }

  function grasp(figure, panel, event) {
    if (!event.target.closest(".live-handle") || event.button) return;
    event.preventDefault();
    const from = place(panel, event);
    const apart = handle => Math.hypot(...handle.position().map((z, i) => z - from[i]));
    const handle = panel.handles.reduce((best, other) => (apart(other) < apart(best) ? other : best));
    const offset = handle.position().map((z, i) => z - from[i]);
    handle.choose();
    figure.status.setAttribute("aria-live", "off");  // one sentence at the end is enough
    panel.svg.setPointerCapture(event.pointerId);
    const move = moved => {
      const [px, py] = place(panel, moved).map((z, i) => z + offset[i]);
      handle.to(panel.xlim[0] + (px - panel.x(panel.xlim[0])) / panel.unit,
        panel.ylim[0] + (py - panel.y(panel.ylim[0])) / (panel.y(1) - panel.y(0)));
    };
    const stop = () => {
      panel.svg.removeEventListener("pointermove", move);
      figure.status.setAttribute("aria-live", "polite");
      figure.changed();
    };
    panel.svg.addEventListener("pointermove", move);
    panel.svg.addEventListener("lostpointercapture", stop, {once: true});
  }

  const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};

  /** Something to drag.

  at() is its place in the data, move(x, y) takes it elsewhere, text() says where it is. A handle of one number
  has also value(), limits and nudge(count) for the keys: one count changes the value by step. Handles of one group
  are one stop of the tab key; Page Up and Page Down go from one to the next. */
  function handle(figure, panel, options) {
    const {label, shape, at, move, text, step = 0.1, value, limits, nudge, group} = options;
    const node = element("g", {class: "live-handle", role: "slider", "aria-label": label}, panel.svg);
    node.innerHTML = `<circle class="live-hit" r="18"/>${shape}`;
    if (!value) node.setAttribute("aria-roledescription", "point to drag");
    const here = {
      node,
      position: () => { const p = at(); return [panel.x(p[0]), panel.y(p[1])]; },
      to: (x, y) => { move(clamp(x, panel.xlim), clamp(y, panel.ylim)); figure.changed(); },
      choose: () => {
        (group || []).forEach(other => other.node.setAttribute("tabindex", -1));
        node.setAttribute("tabindex", 0);
        node.focus({preventScroll: true});
      },
      show: () => {
        const p = at();
        node.setAttribute("transform", `translate(${here.position().map(z => z.toFixed(2)).join(" ")})`);
        node.setAttribute("aria-valuenow", digits(value ? value() : p[0], 3));
        node.setAttribute("aria-valuemin", (limits || panel.xlim)[0]);
        node.setAttribute("aria-valuemax", (limits || panel.xlim)[1]);
        node.setAttribute("aria-valuetext", text());
      },
    };
    node.setAttribute("tabindex", group && group.length ? -1 : 0);
    if (group) group.push(here);
    node.addEventListener("keydown", event => {
      const arrow = ARROWS[event.key], end = {Home: 0, End: 1}[event.key];
      if (arrow) {
        const size = event.shiftKey ? 0.1 : 1, p = at();
        if (nudge) { nudge(size * (arrow[0] + arrow[1])); figure.changed(); }
        else here.to(p[0] + size * step * arrow[0], p[1] + size * step * arrow[1]);
      } else if (nudge && end !== undefined) {
        nudge(((limits || panel.xlim)[end] - value()) / step);
        figure.changed();
      } else if (group && (event.key === "PageDown" || event.key === "PageUp")) {
        const next = group.indexOf(here) + (event.key === "PageDown" ? 1 : -1);
        group[(next + group.length) % group.length].choose();
      } else return;
      event.preventDefault();
    });
    panel.handles.push(here);
    figure.handles.push(here);
    return here;
  }

  function button(figure, label, action) {
    const node = element("button", {type: "button"}, figure.controls);
    node.textContent = label;
    node.addEventListener("click", () => { action(); figure.changed(); });
    return node;
  }

  /** A slider of the browser's own, for a number that has no place in the picture. */
  function slider(figure, {label, limits, get, set, text, step = "any"}) {
    const box = element("label", {}, figure.controls);
    box.append(label + " ");
    const node = element("input", {type: "range", min: limits[0], max: limits[1], step,
      autocomplete: "off"}, box);
    const output = element("span", {class: "live-value"}, box);
    node.addEventListener("input", () => { set(Number(node.value)); figure.changed(); });
    node.addEventListener("keydown", event => {  // with step "any" a browser's own steps are coarse
      const arrow = ARROWS[event.key];
      if (!arrow || step !== "any") return;
      event.preventDefault();
      const size = (limits[1] - limits[0]) / (event.shiftKey ? 1000 : 100);
      set(clamp(get() + size * (arrow[0] + arrow[1]), limits));
      figure.changed();
    });
    figure.handles.push({show: () => {
      node.value = get();
      node.setAttribute("aria-valuetext", text());
      output.textContent = text();
    }});
  }

  /** One of several ways, in a list of the browser's own; hidden while ways() has none. */
  function choice(figure, {label, ways, get, set}) {
    const box = element("label", {class: "live-choice"}, figure.controls);
    box.append(label + " ");
    const node = element("select", {autocomplete: "off", "aria-label": label}, box);
    node.addEventListener("change", () => { set(Number(node.value)); figure.changed(); });
    figure.handles.push({show: () => {
      box.hidden = !ways();
      node.replaceChildren(...(ways() || []).map((way, i) => new Option(way, i)));
      node.value = get();
    }});
  }

  function start(root) {
    const figure = {
      handles: [],
      wide: root.clientWidth > 600,
      panels: element("div", {class: "live-panels"}, root),
      controls: element("div", {class: "live-controls"}, root),
      status: element("p", {class: "live-state", role: "status", "aria-live": "polite"}, root),
      hint: text => Object.assign(element("p", {class: "live-hint"}, root), {textContent: text}),
      changed: () => {
        const {state, text} = draw();
        figure.handles.forEach(one => one.show());
        figure.status.textContent = text;
        root.dataset.state = JSON.stringify(state);
      },
    };
    for (const [name, make] of Object.entries({panel, handle, button, slider, choice}))
      figure[name] = (...given) => make(figure, ...given);
    figure.group = title => {
      if (figure.controls.matches("fieldset")) figure.controls = figure.controls.parentElement;
      figure.controls = element("fieldset", {}, figure.controls);
      element("legend", {}, figure.controls).textContent = title;
    };
    const draw = figures[root.dataset.figure](figure, JSON.parse(root.dataset.given));
    root.figure = figure;
    figure.changed();
    figure.touched = true;  // whatever changes now, the reader has moved it: answers may be told
    (root.closest(".cell_output") || root.parentElement).classList.add("live-drawn");
  }

  const NEEDS = {multiverse: "multiverse.js"}, fetched = {};
  const fetch = name => fetched[name] ??= new Promise((done, failed) => Object.assign(
    element("script", {src: folder + name}, document.head), {onload: done, onerror: failed}));

  function begin() {
    for (const root of document.querySelectorAll(".live[data-figure]"))
      Promise.all([NEEDS[root.dataset.figure] || "steps.js", `live-${root.dataset.figure}.js`].map(fetch)).then(() => start(root));
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();

  return {figures, marks, digits, clamp};
})();
