"""The ways in which ranks sum gradients, by the names that rows and pages give them."""
from dataclasses import dataclass
from typing import Tuple


@dataclass(frozen=True)
class Way:
    """One way to sum. Fractions are parts of all steps, and `scale` is what a broken codec multiplies sums by."""

    codec: str = "exact"
    feedback: bool = False
    exempt: bool = False  # norms, biases and embeddings travel exactly
    warmup: float = 0.0
    options: Tuple[Tuple[str, str], ...] = ()
    half: bool = False  # gradients are float16, under a loss scale
    powersgd_rank: int = 0  # torch's hook, not ours
    local_steps: int = 0  # only every so many steps what has changed is summed
    scale: float = 1.0


DENSE = "exact"

# The first words are the codec; the others say how it is used.
WAYS = {
    DENSE: Way(),
    "bf16": Way("bf16"),
    "bf16, feedback": Way("bf16", True),
    "fp16": Way(half=True),
    "2:4": Way("2:4"),
    "2:4, feedback": Way("2:4", True),
    "2:4, feedback, exempt": Way("2:4", True, True),
    "2:4, feedback, exempt, warm-up": Way("2:4", True, True, 0.05),
    "2:4, bf16 down, feedback": Way("2:4,down=bf16", True),
    "1:4": Way("1:4"),
    "1:4, feedback": Way("1:4", True),
    "1:4, feedback, exempt, warm-up": Way("1:4", True, True, 0.05),
    "2:4+int8": Way("2:4+int8"),
    "2:4+int8, feedback": Way("2:4+int8", True),
    "2:4+int8, feedback, exempt": Way("2:4+int8", True, True),
    "2:4+int8, feedback, exempt, warm-up": Way("2:4+int8", True, True, 0.05),
    "int8": Way("int8"),
    "int8, feedback": Way("int8", True),
    "int4": Way("int4"),
    "int4, feedback": Way("int4", True),
    "int4, exempt": Way("int4", False, True),
    "int4, feedback, exempt": Way("int4", True, True),
    "int4, feedback, exempt, warm-up": Way("int4", True, True, 0.05),
    "int4 by chance": Way("int4/seed=1"),
    "bound 1e-4, feedback": Way("bound/abs=1e-4", True),
    "grid 1e-4, feedback": Way("int/abs=1e-4", True),
    "tolerance 1e-3 of the range": Way("bound", options=(("gc_tolerance", "range=1e-3"),)),
    "PowerSGD 1": Way(powersgd_rank=1, warmup=0.05),
    "PowerSGD 4": Way(powersgd_rank=4, warmup=0.05),
    "local 10": Way(local_steps=10),
    "local 50": Way(local_steps=50),
    "local 10, int4, feedback": Way("int4", True, local_steps=10),
    "local 50, int4, feedback": Way("int4", True, local_steps=50),
    "control: int8 that halves": Way("int8", scale=0.5),
}
