"""Feedback pages that need no network and run nothing: formulas as MathML, no script at all."""

import html
import re

import nh3
from latex2mathml.converter import convert

from grading.clean import Tags

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:"
POLICY += "; base-uri 'none'; form-action 'none'"
WORDS = re.compile(r"\w+")
MATHML = {
    *WORDS.findall("math merror menclose mfenced mfrac mi mmultiscripts mn mo mover mpadded"),
    *WORDS.findall("mphantom mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup msup"),
    *WORDS.findall("mtable mtd mtext mtr munder munderover"),
}
MATH_ATTRIBUTES = {
    *WORDS.findall("accent accentunder columnalign columnlines columnspacing depth display"),
    *WORDS.findall("displaystyle fence form height largeop linethickness lspace mathbackground"),
    *WORDS.findall("mathcolor mathsize mathvariant maxsize minsize movablelimits notation"),
    *WORDS.findall("rowlines rowspacing rspace scriptlevel separator stretchy symmetric voffset"),
    *WORDS.findall("width xmlns"),
}
BOLD = re.compile(r'<mi mathvariant="bold">([A-Za-z])</mi>')
SKIPPED = re.compile(r"(<(pre|code|style)\b.*?</\2>|<[^>]*>)", re.S | re.I)
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$(?!\s)([^$]+?)(?<!\s)\$", re.S)


def bold(match):
    """MathML leaves bold letters to Unicode."""
    letter = match[1]
    start = 0x1D400 - ord("A") if letter.isupper() else 0x1D41A - ord("a")
    return f'<mi mathvariant="normal">{chr(ord(letter) + start)}</mi>'


def formula(match):
    """A formula as MathML; what cannot be read as one stays as it was typed.

    The converter lets tags inside \\text through, so what it returns must be nothing but MathML.
    """
    display = match[1] is not None
    tex = html.unescape(match[1] or match[2])
    tex = re.sub(r"\\(tag|label)\{.*?\}", "", tex)
    try:
        done = convert(tex, display="block" if display else "inline")
    except Exception:
        return match[0]
    cleaned = nh3.clean(done, tags=MATHML, attributes={"*": MATH_ATTRIBUTES}, link_rel=None)
    return BOLD.sub(bold, cleaned) if Tags(cleaned).found == Tags(done).found else match[0]


def with_formulas(page):
    """Replace TeX in the text of a page, leaving tags and code alone.

    A formula may hold no tag, so each stretch of text is looked at by itself.
    """
    parts = SKIPPED.split(page)
    for number in range(0, len(parts), 3):
        parts[number] = FORMULA.sub(formula, parts[number])
        if number + 2 < len(parts):
            parts[number + 2] = ""  # the name of the tag, which the split gives too
    return "".join(parts)


def offline(page):
    """nbgrader's page without scripts and links to other hosts."""
    page = re.sub(r"<script\b.*?</script\s*>", "", page, flags=re.S | re.I)
    page = re.sub(r"<link\b[^>]*>", "", page, flags=re.I)
    page = re.sub(r"@import[^;]*;", "", page)
    page = re.sub(r"url\((?!['\"]?data:)[^)]*\)", "none", page)
    head, body = page.split("</head>", 1)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    head = head.replace('<meta charset="utf-8" />', f'<meta charset="utf-8" />\n{meta}', 1)
    return head + "</head>" + with_formulas(body)


def name_questions(page, titles, waiting):
    """Say which question a score belongs to, and which paragraphs nobody has graded yet."""
    for name, title in titles.items():
        text = html.escape(title)
        for label in ("Test cell", "Written response"):
            page = page.replace(f'<a href="#{name}">{label}</a>', f'<a href="#{name}">{text}</a>')
        page = page.replace(f"Grade cell: <code>{name}</code>", text)
    for name in waiting:
        page = re.sub(
            rf'(<a href="#{name}">[^<]*</a> )\(Score: [\d.]+ / ([\d.]+)\)',
            r"\1(not yet graded, of \2)",
            page,
        )
        page = re.sub(
            rf'(<a name="{name}"></a>.*?)Score: [\d.]+ / ([\d.]+)',
            r"\1Not yet graded, of \2",
            page,
            count=1,
            flags=re.S,
        )
    return page


def titles_of(source):
    """{graded cell: "Question 2: The neighbour search"} from the headings of an assignment."""
    titles, heading = {}, ""
    for cell in source.cells:
        found = re.search(r"^## (.*?)(?: \([^()]*points?[^()]*\))?$", cell.source, re.M)
        if cell.cell_type == "markdown" and found:
            heading = found[1]
        part = re.search(r"^\*\*(\d+[a-z]) \(", cell.source, re.M)
        if cell.cell_type == "markdown" and part:
            heading = re.sub(r"^Question \d+[a-z]?", f"Question {part[1]}", heading)
        if cell.metadata.get("nbgrader", {}).get("grade"):
            name = cell.metadata.nbgrader.grade_id
            titles[name] = f"{heading} ({name})" if heading else name
    return titles
