"""Replaces operations of a transformers model by ones that keep what fused kernels keep for their backward.

Attention keeps queries, keys, values, its result and a number for each row and head; a norm its input and a number
for each row; a gate both of its inputs. What else backward needs is made again there.
"""
import re
import sys

import torch


class Again(torch.autograd.Function):
    """Keeps the inputs of a function, and a number for each row; computes the function again in backward."""

    @staticmethod
    def forward(ctx, function, rows, keeps_result, *tensors):
        with torch.no_grad():
            result = function(*tensors)
        ctx.function, ctx.count = function, len(tensors)
        more = ([torch.empty(rows, dtype=torch.float32)] if rows else []) + ([result] if keeps_result else [])
        ctx.save_for_backward(*tensors, *more)
        return result

    @staticmethod
    def backward(ctx, grad):
        inputs = [tensor.detach().requires_grad_() for tensor in ctx.saved_tensors[:ctx.count]]
        with torch.enable_grad():
            result = ctx.function(*inputs)
        return None, None, None, *torch.autograd.grad(result, inputs, grad)


def attention(module, query, key, value, attention_mask, scaling=None, position_bias=None, **_):
    """The signature of transformers' attention functions."""
    causal = getattr(module, "is_causal", True)
    biases = [position_bias] if position_bias is not None and position_bias.requires_grad else []

    def core(query, key, value, *bias):
        result = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=bias[0] if bias else None, is_causal=causal and not bias, scale=scaling,
            enable_gqa=True)
        return result.transpose(1, 2).contiguous()

    return Again.apply(core, query.shape[:-1].numel(), True, query, key, value, *biases), None


def state_space(projected, convolution, convolution_bias, clock, decay, D, outproj_weight, outproj_bias=None, **_):
    """Stands in for the kernel of mamba_ssm: it keeps what that keeps, and computes something of the same size."""
    width = outproj_weight.shape[1]
    scanned = Again.apply(lambda one: one[..., :width] * 1, 0, True, projected)
    return Again.apply(lambda one, weight: torch.nn.functional.linear(one, weight), 0, False, scanned, outproj_weight)


def fuse_norm(module):
    plain = module.forward
    module.forward = lambda x: Again.apply(lambda one: plain(one), x.shape[:-1].numel(), False, x)


def fuse_activation(module):
    plain = module.forward
    module.forward = lambda x: Again.apply(lambda one: plain(one), 0, False, x)


def fuse_gate(module):
    act = getattr(module, "act_fn", None) or module.activation_fn
    if hasattr(module, "gate_up_proj"):
        def forward(x):
            return module.down_proj(Again.apply(
                lambda both: act(both.chunk(2, -1)[0]) * both.chunk(2, -1)[1], 0, False, module.gate_up_proj(x)))
    else:
        def forward(x):
            return module.down_proj(Again.apply(lambda gate, up: act(gate) * up, 0, False, module.gate_proj(x),
                                                module.up_proj(x)))
    module.forward = forward


def fuse_experts(module):
    plain = module._apply_gate
    module._apply_gate = lambda both: Again.apply(plain, 0, False, both)


def fuse_all_experts(module):
    """Llama 4's experts, which compute all tokens."""
    def forward(x):
        both = torch.bmm(x.view(module.num_experts, -1, module.hidden_size), module.gate_up_proj)
        gated = Again.apply(lambda one: one.chunk(2, -1)[1] * module.act_fn(one.chunk(2, -1)[0]), 0, False, both)
        return torch.bmm(gated, module.down_proj).view(-1, module.hidden_size)
    module.forward = forward


def fuse_t5_gate(module):
    def forward(x):
        return module.wo(Again.apply(lambda gate, up: module.act(gate) * up, 0, False, module.wi_0(x), module.wi_1(x)))
    module.forward = forward


def fuse_modernbert_gate(module):
    def forward(x):
        return module.Wo(Again.apply(lambda both: module.act(both.chunk(2, -1)[0]) * both.chunk(2, -1)[1], 0, False,
                                     module.Wi(x)))
    module.forward = forward


def fuse(model):
    for module in model.modules():
        name = type(module).__name__
        code = sys.modules[type(module).__module__]
        if hasattr(code, "mamba2_split_conv1d_scan_combined"):
            code.mamba2_split_conv1d_scan_combined = state_space
        if re.search(r"(RMS|Layer|L2)Norm$", name):
            fuse_norm(module)
        elif name == "QuickGELUActivation":
            fuse_activation(module)
        elif name == "T5DenseGatedActDense":
            fuse_t5_gate(module)
        elif name == "ModernBertMLP":
            fuse_modernbert_gate(module)
        elif name == "Llama4TextExperts":
            fuse_all_experts(module)
        elif hasattr(module, "_apply_gate"):
            fuse_experts(module)
        elif hasattr(module, "down_proj") and (hasattr(module, "gate_up_proj") or hasattr(module, "gate_proj")):
            fuse_gate(module)
