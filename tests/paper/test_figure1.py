"""Figure 1 of a model folder."""

import pytest

from heedful.errors import ModelFolderError
from heedful.model.transformer import Transformer
from heedful.paper import figure1
from heedful.paper.request import Request, write_pictures


def test_the_blocks_add_up_to_all_parameters(model_folder):
    (result,) = figure1.run(Request(name="figure1", model=model_folder.path))

    rows = {row[0]: row for row in result.tables[0].rows}
    model = Transformer(model_folder.config())
    assert sum(row[2] for row in rows.values()) == model.num_parameters
    # Width 16, 2 heads of 8: four matrices of 16 x 16 with biases.
    assert rows["encoder, 1 x self attention"][1:] == ("2 heads of 8, 8", 4 * (16 * 16 + 16))
    assert rows["encoder, 1 x feed forward"][1] == "n x 16 -> 32 -> 16"
    assert [claim.verdict for claim in result.claims] == ["holds", "holds"]


@pytest.mark.slow
def test_it_is_drawn(model_folder, tmp_path):
    (result,) = figure1.run(Request(name="figure1", model=model_folder.path))

    svg, _ = write_pictures(result, tmp_path)

    assert "Masked self-attention" in svg.read_text()


def test_a_folder_without_a_model_is_told(tmp_path):
    with pytest.raises(ModelFolderError, match="this is not a finished heedful model folder"):
        list(figure1.run(Request(name="figure1", model=tmp_path)))
