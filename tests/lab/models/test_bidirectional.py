"""The bidirectional layer against torch's own on packed texts."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from goldassay.lab.models.sequences import Bidirectional, Layout


# In 64 bits by rectangles, as on an accelerator; in 32 by compiled passes.
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_both_directions_are_those_of_torch_on_packed_texts(kind):
    torch.manual_seed(0)
    lengths = [5, 1, 3]
    vectors, own = torch.randn(9, 4, dtype=kind), Bidirectional(4, 6).to(kind)
    theirs = torch.nn.LSTM(4, 6, bidirectional=True).to(kind)
    weights = dict(own.forwards.state_dict())
    weights |= {f"{name}_reverse": value for name, value in own.backwards.state_dict().items()}
    theirs.load_state_dict(weights)
    wanted = [theirs(text.unsqueeze(1))[0].squeeze(1) for text in vectors.split(lengths)]
    layout = Layout(torch.tensor(lengths), (5,))
    torch.testing.assert_close(layout.of_words(own(vectors, layout)), torch.cat(wanted))
    torch.testing.assert_close(own.maxima(vectors, layout), torch.stack([each.amax(0) for each in wanted]))
