/* What the style sheet cannot know: which boxes scroll, how wide a formula is, what a button opens, when paper is meant. */
(function () {
  "use strict";
  const SCROLLING =
    "div.math, .picture, .pst-scrollable-table-container, div.highlight pre, div.cell_output pre";
  const PAPER = 680 * 16 / 13.4; // between the margins of A4, in letters of 16 px; there they have 13.3

  /* The keyboard reaches what scrolls; a shadow tells that there is more to the right. All boxes are measured
  before the first is changed, so that the page is laid out once. */
  function mark(boxes) {
    boxes.map((box) => {
      const wide = box.scrollWidth > box.clientWidth + 1, first = box.querySelector("tr > :first-child");
      const more = wide && box.scrollLeft + box.clientWidth < box.scrollWidth - 2;
      return [box, wide, more, wide && first && first.offsetWidth < box.clientWidth / 3];
    }).forEach(([box, wide, more, pinned]) => {
      box.classList.toggle("more", more);
      box.classList.toggle("pinned", Boolean(pinned));
      if (wide) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    });
  }

  /* On paper a formula that is too wide for the page gets smaller. */
  function fit() {
    document.querySelectorAll("div.math").forEach((box) => {
      if (box.scrollWidth > PAPER) box.style.setProperty("--on-paper", PAPER / box.scrollWidth);
    });
  }

  function nameButtons() {
    document.querySelectorAll(".admonition-title .toggle-button").forEach((button) => {
      const title = button.parentElement.textContent.replace(/\s+/g, " ").trim();
      button.setAttribute("aria-label", "Show or hide: " + title);
    });
  }

  /* The current chapter is in view in the list of chapters. */
  function showChapter() {
    const bar = document.getElementById("pst-primary-sidebar");
    const here = bar && bar.querySelector(".current.active > a");
    if (!here) return;
    const place = here.getBoundingClientRect(), view = bar.getBoundingClientRect();
    if (place.top < view.top || place.bottom > view.bottom)
      bar.scrollTop += place.top - view.top - view.height / 3;
  }

  function start() {
    nameButtons();
    showChapter();
    // A box gets its width when it's first seen, a window is resized, a solution unfolded.
    const watch = new ResizeObserver((seen) => mark(seen.map((change) => change.target)));
    document.querySelectorAll(SCROLLING).forEach((box) => {
      box.addEventListener("scroll", () => mark([box]), { passive: true });
      watch.observe(box);
    });
  }

  /* Paper is white, whatever the screen is. */
  const root = document.documentElement;
  let theme;
  window.addEventListener("beforeprint", () => {
    fit();
    theme = root.dataset.theme;
    root.dataset.theme = "light";
  });
  window.addEventListener("afterprint", () => { root.dataset.theme = theme; });

  window.addEventListener("load", start);
})();
