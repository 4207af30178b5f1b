"""Sphinx extension: what the search of the built book needs beside Sphinx's own index.

`_static/treated.js` tells for each word which chapter treats it, so that the search can show that
chapter first; `book/_static/find.js` reads it. Both are for the search page only. The chapter is
the one in which the word occurs most often, among those that the glossary names if it has the word.
"""

import json
import re
from collections import Counter
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.errors import ExtensionError

SEARCHTOOLS = re.compile(r'<script[^>]*src="_static/searchtools\.js[^"]*"[^>]*></script>')
FIND = "".join(
    f'<script defer="defer" src="_static/{name}.js"></script>' for name in ("treated", "find")
)
OFTEN = 3  # times, for a word to count as treated


def words(doctree, lang):
    """The words of the text, of titles and of formulas as the index has them; not those of code."""
    for node in doctree.findall(nodes.Text):
        if not isinstance(node.parent, nodes.literal_block | nodes.raw):
            yield from (lang.stem(word.lower()) for word in lang.split(node.astext()))


def explained(env, lang):
    """word -> the pages that the glossary names for it."""
    labels = env.domaindata["std"]["labels"]
    for entry in env.get_doctree("book/glossary").findall(nodes.definition_list_item):
        refs = [ref["reftarget"] for ref in entry.findall(pending_xref)]
        pages = {labels[ref][0] for ref in refs if ref in labels}
        for term in entry.findall(nodes.term):
            yield lang.stem(term.astext().lower()), pages


def treated(env, lang):
    """word -> the chapter that treats it."""
    named, most = dict(explained(env, lang)), {}
    for name in sorted(env.found_docs):
        if re.match(r"book/\d\d-", name):
            for word, count in Counter(words(env.get_doctree(name), lang)).items():
                rank = (name in named.get(word, ()), count)
                if count >= OFTEN and rank > most.get(word, ((False, 0), ""))[0]:
                    most[word] = (rank, name)
    return {word: name for word, (_, name) in sorted(most.items())}


def equip_search(app, exception):
    if exception is not None or app.builder.name != "html":
        return
    found = treated(app.env, app.builder.indexer.lang)
    out = Path(app.outdir)
    script = "window.treated = " + json.dumps(found, ensure_ascii=False, indent=0) + ";\n"
    (out / "_static" / "treated.js").write_text(script, encoding="utf-8")
    page = out / "search.html"
    text, times = SEARCHTOOLS.subn(lambda tag: tag[0] + FIND, page.read_text(encoding="utf-8"))
    if not times:
        raise ExtensionError("search.html has no tag for searchtools.js: has Sphinx changed?")
    page.write_text(text, encoding="utf-8")


def setup(app):
    app.connect("build-finished", equip_search, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
