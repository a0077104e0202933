#!/usr/bin/env bash
# transformers 5.24.0 (PyPI): a T5 whose config says tie_word_embeddings=False is built tied, and loaded untied.
#
# Guess, written down first: T5Config(tie_word_embeddings=False), as T5 1.1 and Flan-T5 have it, keeps the False, and a
# model made from that config (on the meta device, say, to count parameters) has a head of its own: as many parameters as
# the checkpoint of that config. So it is with other families.
# Behaviour: the config's attribute is True whatever was asked for (the False only decides scale_decoder_outputs), so the
# model that is built has vocab_size * d_model parameters fewer than the one that from_pretrained() makes of the same
# config and a checkpoint with a head of its own: there the weights decide. Loading warns that one should set
# tie_word_embeddings=False, which the file already says, and which cannot be set. Counting parameters from a config is
# wrong by the head then: 33 of 783 million for T5 1.1 large.
# Seen 2026-11-29, transformers 5.24.0, torch 2.15.0, x86-64, twice:
#   asked for False, config says True; built 228864 parameters, loaded 292864; told to set it: True
# Ends with 0 if that is still so.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" -q install transformers==5.24.0 torch==2.15.0 safetensors
cat >"$folder/t5.py" <<'PY'
import json
import sys

import torch
from safetensors.torch import load_file, save_file
from transformers import T5Config, T5ForConditionalGeneration

folder = sys.argv[1]
config = T5Config(d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, vocab_size=1000, tie_word_embeddings=False)
built = T5ForConditionalGeneration(config)
built.save_pretrained(folder)
with open(f"{folder}/config.json", encoding="utf-8") as file:
    said = json.load(file)
said["tie_word_embeddings"] = False  # as the published files of T5 1.1 say
with open(f"{folder}/config.json", "w", encoding="utf-8") as file:
    json.dump(said, file)
weights = load_file(f"{folder}/model.safetensors")
weights["lm_head.weight"] = torch.randn_like(weights["shared.weight"])
save_file(weights, f"{folder}/model.safetensors", metadata={"format": "pt"})
loaded = T5ForConditionalGeneration.from_pretrained(folder)
assert torch.equal(loaded.lm_head.weight, weights["lm_head.weight"])


def count(model):
    return sum(parameter.numel() for parameter in model.parameters())


print(config.tie_word_embeddings, count(built), count(loaded))
PY
read -r says built loaded < <("$folder/v/bin/python" "$folder/t5.py" "$folder" 2>"$folder/words")
told=False
! grep -q "update the config with .tie_word_embeddings=False" "$folder/words" || told=True
echo "asked for False, config says $says; built $built parameters, loaded $loaded; told to set it: $told"
[ "$says" = True ] && [ $((loaded - built)) -eq 64000 ] && [ "$told" = True ]
