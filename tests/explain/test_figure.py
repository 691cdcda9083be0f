"""A picture of where a head looked."""

import xml.etree.ElementTree as ElementTree

import numpy as np

from heedful.explain.figure import map_picture

SVG = "{http://www.w3.org/2000/svg}"


def test_every_weight_is_a_cell_that_says_what_it_is_and_the_darker_the_more():
    weights = np.array([[1.0, 0.0, 0.25]])

    picture = ElementTree.fromstring(map_picture(weights, ["das"], ["the", "a", "</s>"], "cross"))

    cells = [it for it in picture.iter(f"{SVG}rect") if it.find(f"{SVG}title") is not None]
    assert [it.get("fill") for it in cells] == ["#00488d", "#ffffff", "#80a4c6"]
    assert cells[2].find(f"{SVG}title").text == "das → </s>: 0.250"


def test_hostile_labels_stay_labels():
    hostile = "</text><script>alert(1)</script>\x07"

    picture = ElementTree.fromstring(map_picture(np.ones((1, 1)), [hostile], [hostile], hostile))

    assert [it.tag for it in picture.iter() if "script" in it.tag] == []
