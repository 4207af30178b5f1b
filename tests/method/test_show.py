"""What a live figure is given."""

import html
import json
import re

import numpy as np

from slnp_edu.show import live


def test_a_live_figure_is_given_its_name_and_its_data_with_six_decimals():
    given = {"points": np.array([[1 / 3, -2.0], [-1e-9, 123456.1234564]]), "text": "a < \"c\" 'd'"}
    asked = live("toy", labels=np.arange(3), nested=[0.1 + 0.2, ["a"]], none=None, **given).data
    found = re.fullmatch(
        r'<div class="live" data-figure="toy" data-given="([^"<>]*)"></div>', asked
    )
    assert json.loads(html.unescape(found[1])) == {
        "points": [[0.333333, -2.0], [0.0, 123456.123456]],
        "text": given["text"],
        "labels": [0, 1, 2],
        "nested": [0.3, ["a"]],
        "none": None,
    }
    assert "-0.0" not in found[1]  # one zero on every processor
