/* Search as readers ask: an equation by its number, a letter by its name, the chapter that treats
   the matter first, and sentences below it. Comes after Sphinx's searchtools.js, before the index. */
(function () {
  "use strict";
  const GREEK = {
    α: "alpha", β: "beta", γ: "gamma", δ: "delta", ε: "epsilon", η: "eta", θ: "theta", κ: "kappa",
    λ: "lambda", μ: "mu", ρ: "rho", σ: "sigma", τ: "tau", φ: "phi", χ: "chi", ψ: "psi", ω: "omega",
  };

  /* "(52)", "Eq. 52", "eq (52)" -> "equation 52"; "γ" -> "gamma" */
  function asked(query) {
    const number = query.trim().match(/^(?:(?:eqn?s?|equation)\b\.?\s*\(?|\()(\d+)\)?$/i);
    if (number) return "equation " + number[1];
    return query.replace(/[α-ω]/g, (letter) => (GREEK[letter] ? ` ${GREEK[letter]} ` : letter)).trim();
  }

  function sentences(html, anchor) {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll("script, style, .headerlink, .cell, div.math, .highlight, .admonition-title").forEach((n) => n.remove());
    page.querySelectorAll("mfrac > :first-child").forEach((n) => n.append("/"));
    page.querySelectorAll("msup > :last-child, msubsup > :last-child").forEach((n) => n.prepend("^"));
    page.querySelectorAll("msqrt").forEach((n) => n.prepend("√"));
    let part = anchor && page.getElementById(decodeURIComponent(anchor.slice(1)));
    if (part && part.tagName === "DT") part = part.nextElementSibling;
    const blocks = (part || page.querySelector("article")).querySelectorAll("p, li:not(:has(p))");
    const text = [...blocks].map((block) => block.textContent.replace(/\s+/g, " ").trim());
    return text.flatMap((block) => block.split(/(?<=[.!?:]) (?=[A-Z(“])/)).filter((s) => /\w/.test(s));
  }

  function summary(html, words, anchor) {
    const all = sentences(html, anchor);
    const has = (s) => {
      const said = asked(s).toLowerCase().split(/[^\p{Letter}\p{Number}_]+/u);
      return [...words].filter((w) => said.some((t) => t.startsWith(w) && !t.includes("_"))).length;
    };
    const first = all.reduce((best, s, i) => (has(s) > has(all[best]) ? i : best), 0);
    const node = document.createElement("p");
    node.className = "context";
    node.textContent = all.slice(first, first + 2).join(" ");
    if (node.textContent.length > 280) node.textContent = node.textContent.slice(0, 280).replace(/\S*$/, "…");
    return node;
  }

  const { query, _performSearch } = Search;
  let wanted = [];
  Search.query = (words) => query(asked(words));
  Search._performSearch = (words, terms, ...rest) => {
    wanted = [...terms];
    return _performSearch(words, terms, ...rest);
  };
  Search.makeSearchSummary = summary;
  // window.treated, written at build time: word -> the chapter that treats it.
  Scorer.score = ([page, , anchor, , score]) => {
    const most = wanted.filter((word) => window.treated[word] === page).length;
    return anchor || !most ? score : score + (150 * most) / wanted.length;
  };
})();
