"""Sphinx extension: data for the book's scripts.

treated.js: which chapter treats a term, so that the search can show that chapter first. The
glossary names it, the last if there are several. `book/_static/find.js` reads it.
multiverse.js: the rates of all specifications on record, for `book/_static/live-multiverse.js`.
"""

import json
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref

from slnp_study.multiverse import explorable


def treated(env, lang):
    """(word as in Sphinx's index, page) of the words of all terms."""
    pages = {label: place[0] for label, place in env.domaindata["std"]["labels"].items()}
    for entry in env.get_doctree("book/glossary").findall(nodes.definition_list_item):
        named = [ref["reftarget"] for ref in entry.findall(pending_xref)]
        chapters = [pages[label] for label in named if label.startswith("ch-")]
        for term in entry.findall(nodes.term) if chapters else ():
            for word in lang.split(term.astext().lower()):
                yield lang.stem(word), chapters[-1]


def write(app, exception):
    if exception is None and app.builder.name == "html":
        found = {"window.treated": dict(treated(app.env, app.builder.indexer.lang))}
        found |= {"live.multiverse": explorable()}
        for name, value in found.items():
            script = Path(app.outdir, "_static", f"{name.partition('.')[2]}.js")
            script.write_text(f"{name} = {json.dumps(value)};\n")


def setup(app):
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
