"""Sphinx extension: one style sheet, with the rules that a page of the book can need.

A page waits for its style sheets before it is painted, and the theme alone brings 400 kB: all of
Bootstrap and a rule for each of 1,800 icons. A rule is kept if every class and id that it asks for
stands as a word in a page, or in a script, which may set it. In the fonts of icons those are kept
that the rules name. It runs after everything else has been written.
"""

import logging
import re
import zlib
from pathlib import Path

import tinycss2
from fontTools import subset

WORD = re.compile(r"[\w-]+")
LINKS = re.compile(r'(?:<link(?=[^>]*rel="stylesheet")[^>]*href="((?:\.\./)*)_static/[^>]*>\s*)+')
ADDRESS = re.compile(r'href="([^"?]*)')
HAS_RULES = {"media", "supports", "layer", "container"}
IMPORT = re.compile(r'@import "([^"]*)";')
logging.getLogger("fontTools").setLevel(logging.WARNING)  # a line a table would drown a warning


def words(out):
    """All that could be the name of a class or an id."""
    found = set()
    scripts = (path for path in out.rglob("*.js") if "mathjax" not in path.parts)
    for path in (*out.rglob("*.html"), *scripts):
        found.update(WORD.findall(path.read_text(encoding="utf-8")))
    return found


def names(selector):
    """The classes and ids that a selector asks for; what stands in brackets is let pass."""
    for before, token in zip([None, *selector], selector, strict=False):
        if token.type == "hash" or (token.type == "ident" and before == "."):
            yield token.value


def choices(prelude):
    """The selectors of a rule, which commas part."""
    parts = [[]]
    for token in prelude:
        if token == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def kept(rules, known):
    """The rules, as text, that can apply if the known words are all names there are."""
    for rule in rules:
        if rule.type == "at-rule" and rule.lower_at_keyword in HAS_RULES and rule.content:
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            if body := "".join(kept(inner, known)):
                yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{body}}}"
        elif rule.type == "qualified-rule":
            asked = [part for part in choices(rule.prelude) if known.issuperset(names(part))]
            if asked:
                selectors = ",".join(tinycss2.serialize(part).strip() for part in asked)
                yield f"{selectors}{{{tinycss2.serialize(rule.content).strip()}}}\n"
        elif rule.type != "comment" or rule.value.startswith("!"):  # a licence begins with it
            yield rule.serialize()


def sheet(path, static):
    """The text of a style sheet with those it imports; addresses as seen from the folder static."""
    text = path.read_text(encoding="utf-8").replace('@charset "UTF-8";', "")
    imported = "".join(sheet(path.parent / name, static) for name in IMPORT.findall(text))
    folder = path.parent.relative_to(static).as_posix()
    return imported + re.sub(r"url\((?=[\w.])(?!data:)", f"url({folder}/", IMPORT.sub("", text))


def in_one(paths, static, known):
    """The style sheets as one, without what no page needs. A font comes in one format alone."""
    text = "".join(sheet(path, static) for path in paths)
    rules = tinycss2.parse_stylesheet(text, skip_whitespace=True)
    return re.sub(r'url\([^)]*\.woff2\) format\("woff2"\),', "", "".join(kept(rules, known)))


def only_these(font_file, characters):
    options = subset.Options(lazy=False)
    font = subset.load_font(str(font_file), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=characters)
    subsetter.subset(font)
    subset.save_font(font, str(font_file), options)


def restyle(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    static = out / "_static"
    links = LINKS.search((out / "search.html").read_text(encoding="utf-8"))[0]
    text = in_one([out / name for name in ADDRESS.findall(links)], static, words(out))
    (static / "book.css").write_text(text, encoding="utf-8")
    for font_file in static.rglob("*.ttf"):
        only_these(font_file, text)
        font_file.with_suffix(".woff2").unlink(missing_ok=True)
    version = f"{zlib.crc32(text.encode()):08x}"
    for page in out.rglob("*.html"):
        link = rf'<link rel="stylesheet" href="\1_static/book.css?v={version}" />\n'
        page.write_text(LINKS.sub(link, page.read_text(encoding="utf-8")), encoding="utf-8")


def setup(app):
    app.connect("build-finished", restyle, priority=960)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
