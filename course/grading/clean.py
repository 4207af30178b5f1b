"""Nothing a student wrote may run at the teacher's: texts, outputs and names made harmless.

Text cells are rendered as Formgrader renders them. If nh3 (the Rust library ammonia) would take
anything out of the result, the text is shown as it was typed instead, so nothing is lost and
nothing runs. Outputs keep plain text, pictures and cleaned tables.
"""

import base64
import binascii
import re
from html.parser import HTMLParser

import nbformat
import nh3
from nbconvert.filters import markdown2html, strip_ansi

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
DATA = re.compile(r"data:(?:" + "|".join(PICTURES) + r");base64,[A-Za-z0-9+/=\s]*")
ATTACHED = re.compile(r"attachment:([^\s)\"']+)")
# Control characters but tab and line feed, and those that turn the direction of writing.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
TEX_LINKS = re.compile(
    r"\\(href|url|require|style|class|cssId|html\w+|includegraphics|data|mmlToken|csname)\b"
)
AS_TYPED = "*(shown as it was typed)*"
LONGEST_TEXT = 10_000  # characters beside pictures; nbconvert may need hours for a hostile million
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
ATTRIBUTES = {tag: {"class"} for tag in ("span", "div", "code", "pre", "table", "tr", "td", "th")}
ATTRIBUTES |= {tag: {"id"} for tag in HEADINGS}
ATTRIBUTES |= {"a": {"href", "class", "title"}, "img": {"src", "alt", "title", "width", "height"}}
ATTRIBUTES["th"] |= {"align"}
ATTRIBUTES["td"] |= {"align"}
STYLE = {"color", "background-color", "text-align", "font-weight", "font-style", "vertical-align"}
for tag in ("span", "p", "div", "td", "th"):
    ATTRIBUTES.setdefault(tag, set()).add("style")


def only_local(tag, name, value):
    """No picture from elsewhere, and links only to other pages and within this one."""
    if tag == "img" and name == "src":
        return value if DATA.fullmatch(value) or value.startswith("attachment:") else None
    if name == "href":
        return value if re.match(r"(https?://|mailto:|#)", value) else None
    return value


def clean_html(text):
    """HTML without scripts, handlers, foreign pictures and everything else that acts."""
    return nh3.clean(
        text,
        tags=nh3.ALLOWED_TAGS | {"details", "summary"},
        clean_content_tags={"script", "style"},
        attributes=ATTRIBUTES,
        attribute_filter=only_local,
        url_schemes={"http", "https", "mailto", "data", "attachment"},
        filter_style_properties=STYLE,
        link_rel=None,
    )


class Tags(HTMLParser):
    """The tags of a text with their attributes, in order, and what is read between them."""

    def __init__(self, text):
        super().__init__()
        self.found, self.read = [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        tidy = [(k, re.sub(r"[\s;]", "", v or "") if k == "style" else v or "") for k, v in attrs]
        if tag not in ("tbody", "colgroup"):  # a parser may put these in
            self.found.append((tag, sorted(tidy)))

    def handle_data(self, data):
        self.read += data

    def handle_decl(self, decl):
        self.found.append(("!", decl))

    def handle_pi(self, data):
        self.found.append(("?", data))


def clean_text(text, attachments=()):
    """A text cell as it is if it renders to harmless HTML, else as it was typed."""
    text = printable(text)
    if len(DATA.sub("", text)) > LONGEST_TEXT:
        return as_typed(text[:LONGEST_TEXT] + "\n(cut here; the rest is in the file handed in)")
    try:
        html = markdown2html(ATTACHED.sub("data:image/png;base64,AAAA", text))
        tags = Tags(html)
        harmless = tags.found == Tags(clean_html(html)).found
        harmless &= all(name in attachments for name in ATTACHED.findall(text))
        harmless &= not TEX_LINKS.search(tags.read)  # as MathJax reads it, entities resolved
    except Exception:
        harmless = False
    return text if harmless else as_typed(text)


def as_typed(text):
    typed = "\n".join("    " + line for line in text.splitlines())
    return f"{AS_TYPED}\n\n{typed}"


def printable(text):
    """Without escape sequences and control characters, which a terminal would obey."""
    text = str(text).encode("utf-8", "replace").decode()  # half a character cannot be stored
    return CONTROL.sub(" ", strip_ansi(text))


def one_line(text):
    """A name or a message for a summary: one line, printable, not too long."""
    return re.sub(r"\s+", " ", printable(text)).strip()[:300]


def is_picture(kind, data):
    try:
        return kind in PICTURES and bool(base64.b64decode(data, validate=False))
    except (binascii.Error, ValueError, TypeError):
        return False


def clean_attachments(attachments):
    """The pictures pasted into a cell: those of a known kind, under harmless names."""
    kept = {}
    for name, bundle in attachments.items() if isinstance(attachments, dict) else ():
        pictures = {k: "".join(v) for k, v in bundle.items() if is_picture(k, "".join(v))}
        if pictures and re.fullmatch(r"[\w.%-]+", name):
            kept[name] = pictures
    return kept


def clean_outputs(outputs):
    """Plain text, pictures and cleaned HTML; nothing else reaches a page."""
    kept = []
    for output in outputs:
        if output.output_type == "stream":
            output.text = printable(output.text)
        elif output.output_type == "error":
            output.ename, output.evalue = printable(output.ename), printable(output.evalue)
            output.traceback = [printable(line) for line in output.traceback]
        else:
            data = {k: re.sub(r"\s", "", v) for k, v in output.data.items() if is_picture(k, v)}
            if "text/html" in output.data:
                data["text/html"] = clean_html(output.data["text/html"])
            data["text/plain"] = printable(output.data.get("text/plain", ""))
            output = nbformat.v4.new_output("display_data", data=data)
        kept.append(output)
    return kept
