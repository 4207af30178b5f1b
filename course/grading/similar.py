"""Which submissions resemble each other more than the rest, as a hint for a human."""

import collections
import io
import itertools
import keyword
import tokenize

LENGTH = 8  # tokens in a row that are compared


def tokens(source):
    """The tokens of a cell without comments, texts and the choice of names."""
    try:
        found = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return []
    kept = []
    for token in found:
        if token.type == tokenize.NAME:
            kept.append(token.string if keyword.iskeyword(token.string) else "name")
        elif token.type == tokenize.OP:
            kept.append(token.string)
        elif token.type in (tokenize.NUMBER, tokenize.STRING):
            kept.append("value")
    return kept


def pieces(cells):
    found = set()
    for cell in cells:
        row = tokens(cell.source)
        found |= {tuple(row[i : i + LENGTH]) for i in range(len(row) - LENGTH + 1)}
    return found


def alike(submissions, least=0.8):
    """[(share, student, student, assignment)], most alike first.

    submissions: {(student, assignment): code cells of the answers}. What more than half of a
    group have in common says nothing, so it does not count.
    """
    result = []
    for name in sorted({assignment for _, assignment in submissions}):
        group = {who: pieces(cells) for (who, a), cells in submissions.items() if a == name}
        counts = collections.Counter(piece for found in group.values() for piece in found)
        common = {piece for piece, n in counts.items() if len(group) > 3 and n > len(group) / 2}
        own = {who: found - common for who, found in group.items()}
        for one, other in itertools.combinations(sorted(own), 2):
            smaller = min(len(own[one]), len(own[other]))
            if smaller >= LENGTH:
                share = len(own[one] & own[other]) / len(own[one] | own[other])
                if share >= least:
                    result.append((round(share, 3), one, other, name))
    return sorted(result, reverse=True)
