/* Formulas are typeset when the page stands: those in the window first, then the others, a few at a time, so that
the page can be scrolled and painted in between. `formulas` is a promise, kept when all are done; MathJax is fetched
only where there is a formula. */

var formulas = (function () {
  "use strict";
  const FEW = 4;
  const folder = document.currentScript.src.replace(/[^/]*$/, "");
  const waiting = [...document.querySelectorAll(".math")];
  if (!waiting.length) return Promise.resolve();

  const loaded = new Promise(go => addEventListener("load", go, {once: true}));
  const painted = () => new Promise(go => {
    new PerformanceObserver(go).observe({type: "paint", buffered: true});
    setTimeout(go, 3000);  // a page in the background is not painted
  });

  function fetch() {
    return new Promise((ready, failed) => {
      window.MathJax = {
        loader: {load: ["core", "input/tex", "output/chtml", "a11y/assistive-mml"]},
        startup: {pageReady: ready},
      };
      const script = document.createElement("script");
      script.src = folder + "mathjax/startup.js";
      script.onerror = failed;
      document.head.append(script);
    });
  }

  async function typeset() {
    const first = Math.max(0, waiting.findIndex(node => node.getBoundingClientRect().bottom > 0));
    waiting.push(...waiting.splice(0, first));
    // On paper all are wanted at once.
    addEventListener("beforeprint", () => MathJax.typeset(waiting.splice(0)));
    while (waiting.length) {
      await MathJax.typesetPromise(waiting.splice(0, document.hidden ? Infinity : FEW));
      await new Promise(go => setTimeout(go));
    }
  }

  const done = loaded.then(painted).then(fetch).then(typeset);
  done.catch(() => document.documentElement.classList.add("as-tex"));
  return done;
})();
