"""The networks, what they learn from, and how long. Rates of the quick size were chosen with exact sums on seed 0, which no row has."""
import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from . import data


@dataclass(frozen=True)
class Size:
    """`batch` is that of all ranks together, `rate` the largest learning rate, `width` and `depth` those of the network."""

    steps: int
    batch: int
    rate: float
    width: int
    depth: int


class Cnn:
    """Two to four convolutions on Fashion-MNIST, with group normalisation, by SGD with momentum."""

    SIZES = {"quick": Size(200, 128, 0.05, 8, 1), "whole": Size(9000, 128, 0.1, 32, 2)}

    def __init__(self, size):
        self.size = size
        self.train, self.test = ([torch.from_numpy(array) for array in data.pictures(part)] for part in ("train", "t10k"))

    def model(self):
        layers, before = [], 1
        for width in (self.size.width, 2 * self.size.width):
            for _ in range(self.size.depth):
                layers += [nn.Conv2d(before, width, 3, padding=1), nn.GroupNorm(4, width), nn.ReLU()]
                before = width
            layers.append(nn.MaxPool2d(2))
        return nn.Sequential(*layers, nn.Flatten(), nn.Linear(before * 49, 64), nn.ReLU(), nn.Linear(64, 10))

    def optimizer(self, model):
        return torch.optim.SGD(model.parameters(), lr=self.size.rate, momentum=0.9, weight_decay=1e-4)

    def batch(self, chance):
        chosen = torch.randint(len(self.train[0]), (self.size.batch,), generator=chance)
        return self.train[0][chosen], self.train[1][chosen]

    def tests(self):
        return zip(self.test[0].split(500), self.test[1].split(500))

    def loss(self, model, inputs, wanted):
        """Returns the mean loss of a batch, and how many of its answers are right."""
        scores = model(inputs)
        return functional.cross_entropy(scores, wanted), (scores.argmax(1) == wanted).sum()


class Reader(nn.Module):
    """A causal transformer over characters."""

    KINDS = 96

    def __init__(self, width, depth, length):
        super().__init__()
        self.embed, self.embed_place = nn.Embedding(self.KINDS, width), nn.Embedding(length, width)
        layer = dict(dim_feedforward=4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, max(1, width // 32), **layer) for _ in range(depth))
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, self.KINDS)
        self.register_buffer("later", nn.Transformer.generate_square_subsequent_mask(length), persistent=False)

    def forward(self, text):
        hidden = self.embed(text) + self.embed_place.weight
        for layer in self.layers:
            hidden = layer(hidden, src_mask=self.later, is_causal=True)
        return self.out(self.norm(hidden))


class Transformer:
    """A causal transformer that reads Perl's manual by characters, by AdamW."""

    SIZES = {"quick": Size(200, 8, 1e-2, 64, 2), "whole": Size(10000, 32, 1e-3, 384, 6)}

    def __init__(self, size):
        self.size, self.length = size, size.width
        self.train, self.test = (torch.from_numpy(part) for part in data.characters(Reader.KINDS))

    def model(self):
        return Reader(self.size.width, self.size.depth, self.length)

    def optimizer(self, model):
        return torch.optim.AdamW(model.parameters(), lr=self.size.rate, weight_decay=0.01)

    def _parts(self, text, starts):
        rows = text[starts[:, None] + torch.arange(self.length + 1)]
        return rows[:, :-1], rows[:, 1:]

    def batch(self, chance):
        return self._parts(self.train, torch.randint(len(self.train) - self.length - 1, (self.size.batch,), generator=chance))

    def tests(self):
        starts = torch.linspace(0, len(self.test) - self.length - 2, 512).long()
        return (self._parts(self.test, part) for part in starts.split(32))

    def loss(self, model, inputs, wanted):
        scores = model(inputs)
        return functional.cross_entropy(scores.flatten(0, 1), wanted.flatten()), (scores.argmax(2) == wanted).sum()


class Pairs(nn.Module):
    """A score for an item after another: two tables of embeddings and a small network."""

    def __init__(self, kinds, width, depth):
        super().__init__()
        self.embed_before, self.embed_item = nn.Embedding(kinds, width), nn.Embedding(kinds, width)
        hidden = [part for _ in range(depth) for part in (nn.Linear(3 * width, 3 * width), nn.ReLU())]
        self.top = nn.Sequential(*hidden, nn.Linear(3 * width, 1))

    def forward(self, before, item):
        one, other = self.embed_before(before), self.embed_item(item)
        return self.top(torch.cat([one, other, one * other], -1)).squeeze(-1)


class Recommender:
    """Says whether one word stands behind another in Perl's manual, or is one drawn from all: large tables of embeddings
    whose gradients are zero nearly everywhere, and are summed as dense ones. By Adam."""

    SIZES = {"quick": Size(200, 2048, 3e-2, 16, 1), "whole": Size(20000, 4096, 3e-3, 64, 2)}

    def __init__(self, size):
        self.size, self.kinds = size, 250 * size.width
        self.train, self.test = (torch.from_numpy(part) for part in data.words(self.kinds))

    def model(self):
        return Pairs(self.kinds, self.size.width, self.size.depth)

    def optimizer(self, model):
        return torch.optim.Adam(model.parameters(), lr=self.size.rate)

    def _pairs(self, text, count, chance):
        """The first half of the pairs are real ones."""
        starts = torch.randint(len(text) - 1, (count,), generator=chance)
        drawn = text[torch.randint(len(text), (count,), generator=chance)]
        is_real = torch.arange(count) < count // 2
        return (text[starts], torch.where(is_real, text[starts + 1], drawn)), is_real.float()

    def batch(self, chance):
        return self._pairs(self.train, self.size.batch, chance)

    def tests(self):
        chance = torch.Generator().manual_seed(0)
        return (self._pairs(self.test, 4096, chance) for _ in range(16))

    def loss(self, model, inputs, wanted):
        scores = model(*inputs)
        return functional.binary_cross_entropy_with_logits(scores, wanted), ((scores > 0) == (wanted > 0.5)).sum()


TASKS = {"cnn": Cnn, "transformer": Transformer, "recommender": Recommender}


def rate_at(step, size):
    """Returns the learning rate: it grows for 5 % of the steps, and then falls to nothing as a cosine does."""
    begin = max(1, size.steps // 20)
    if step < begin:
        return size.rate * (step + 1) / begin
    return size.rate * 0.5 * (1 + math.cos(math.pi * (step - begin) / max(1, size.steps - begin)))
