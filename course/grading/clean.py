"""Nothing a student wrote may run at the teacher's: texts, outputs and names made harmless.

Formgrader renders text cells as Markdown, with HTML and formulas. So we disarm whatever could be a
tag, a link, a picture from elsewhere or a command of TeX that acts: a space goes in or a backslash
goes out, and the text stays readable. Outputs keep plain text and pictures.
"""

import re

import nbformat
from nbconvert.filters import strip_ansi

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
# Control characters but tab and line feed, and those that turn the direction of writing.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
TAG = re.compile(r"<(?=[A-Za-z/!?])")
ENTITY = re.compile(r"&(?=#|\w+;)")
LINK = re.compile(r"\](?=:|\((?!attachment:[\w.%-]+\)))")
ATTACHED = re.compile(r"\]\(attachment:([\w.%-]+)\)")
TEX = r"(?<!\\)\\+(?=(href|url|require|style|class|cssId|(html|include)\w+|data|mmlToken|csname)\b)"
BASE64 = re.compile(r"[A-Za-z0-9+/=]*")
LONGEST_TEXT = 10_000  # characters; nbconvert may need hours for a hostile million


def clean_text(text, pictures=()):
    """A text that renders to nothing that acts; `pictures` are the names of those attached."""
    text = TAG.sub("< ", ENTITY.sub("& ", printable(text)[:LONGEST_TEXT]))
    text = ATTACHED.sub(lambda m: m[0] if m[1] in pictures else "] " + m[0][1:], text)
    return re.sub(TEX, "", LINK.sub("] ", text))


def printable(text):
    """Without escape sequences and control characters, which a terminal would obey."""
    text = str(text).encode("utf-8", "replace").decode()  # half a character cannot be stored
    return CONTROL.sub(" ", strip_ansi(text))


def one_line(text):
    """A name or a message for a summary: one line, printable, not too long."""
    return re.sub(r"\s+", " ", printable(text)).strip()[:300]


def pictures_of(bundle):
    """The pictures among the forms of an output or an attachment, and nothing else."""
    texts = {kind: re.sub(r"\s", "", "".join(data)) for kind, data in bundle.items()}
    return {k: text for k, text in texts.items() if k in PICTURES and BASE64.fullmatch(text)}


def clean_attachments(attachments):
    """The pictures pasted into a cell: those of a known kind, under harmless names."""
    found = attachments.items() if isinstance(attachments, dict) else ()
    kept = {name: pictures_of(bundle) for name, bundle in found}
    return {n: bundle for n, bundle in kept.items() if bundle and re.fullmatch(r"[\w.%-]+", n)}


def clean_outputs(outputs):
    """Plain text and pictures; nothing else reaches Formgrader."""
    for output in outputs:
        if output.output_type == "stream":
            output.text = printable(output.text)
        elif output.output_type == "error":
            output.ename, output.evalue = printable(output.ename), printable(output.evalue)
            output.traceback = [f"{output.ename}: {output.evalue}"]
        else:
            text = {"text/plain": printable(output.data.get("text/plain", ""))}
            output.data = nbformat.from_dict(pictures_of(output.data) | text)
    return outputs
