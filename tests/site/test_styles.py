"""Which rules of the style sheets stay: those that a page can need."""

import build_styles as styles
import tinycss2

SHEET = """/*! a licence */ /* a remark */
@font-face { src: url(icon.ttf) }
p, .used, .unused { color: red }
.used .unused { color: red }
.unused:hover > a { color: red }
#used::before { content: "\\f062" }
:not(.unused) { margin: 0 }
[data-theme="dark"] .used { color: white }
@media print { .unused { color: red } .used { color: blue } }
@media screen { .unused { color: red } }
"""


def text_of(sheet, known):
    rules = tinycss2.parse_stylesheet(sheet, skip_whitespace=True)
    return "".join("".join(styles.kept(rules, known)).split())


def test_a_rule_stays_if_all_its_names_are_known():
    assert text_of(SHEET, {"used"}) == (
        "/*!alicence*/@font-face{src:url(icon.ttf)}p,.used{color:red}"
        '#used::before{content:"\uf062"}:not(.unused){margin:0}'
        '[data-theme="dark"].used{color:white}@mediaprint{.used{color:blue}}'
    )


def test_all_rules_stay_if_all_names_are_known():
    kept = text_of(SHEET, {"used", "unused"})
    assert kept.count("unused") == SHEET.count("unused")


def test_sheets_are_joined_in_order_and_their_addresses_still_lead_there(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "basic.css").write_text("i { background: url(file.png) }")
    (tmp_path / "sub" / "theme.css").write_text('@import "../basic.css";')
    (tmp_path / "sub" / "font.css").write_text(
        '@font-face { src: url(../font.woff2) format("woff2"),url(../font.ttf) format("truetype") }'
        " b { background: url(data:image/png) }"
    )
    paths = [tmp_path / "sub" / name for name in ("theme.css", "font.css")]
    text = styles.in_one(paths, tmp_path, set())
    assert "".join(text.split()) == (
        "i{background:url(sub/../file.png)}"
        '@font-face{src:url(sub/../font.ttf)format("truetype")}'
        "b{background:url(data:image/png)}"
    )


def test_names_come_from_pages_and_scripts(tmp_path):
    (tmp_path / "mathjax").mkdir()
    (tmp_path / "page.html").write_text('<p class="of-a-page">')
    (tmp_path / "script.js").write_text("node.classList.add('of-a-script');")
    (tmp_path / "mathjax" / "core.js").write_text("'of-mathjax'")
    assert {"of-a-page", "of-a-script"} <= styles.words(tmp_path)
    assert "of-mathjax" not in styles.words(tmp_path)
