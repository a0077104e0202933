"""What mover-models builds: figures of models as they were published, and small ones of the same families."""

# title: model_type, what differs from the defaults of the family's configuration class
PUBLISHED = {
    "GPT-2 XL": ("gpt2", dict(n_embd=1600, n_layer=48, n_head=25)),
    "GPT-NeoX 20B": ("gpt_neox", {}),
    "Llama-2 7B": ("llama", {}),
    "Llama-3 8B": ("llama", dict(vocab_size=128256, intermediate_size=14336, num_key_value_heads=8)),
    "Llama with biases": ("llama", dict(attention_bias=True, mlp_bias=True)),
    "Mistral 7B": ("mistral", {}),
    "Mistral-Small-3.1 24B": ("mistral3", dict(tie_word_embeddings=False, text_config=dict(
        model_type="mistral", vocab_size=131072, hidden_size=5120, intermediate_size=32768, num_hidden_layers=40,
        num_attention_heads=32, num_key_value_heads=8, head_dim=128, sliding_window=None))),
    "Qwen2.5 7B": ("qwen2", dict(vocab_size=152064, hidden_size=3584, intermediate_size=18944, num_hidden_layers=28,
                                 num_attention_heads=28, num_key_value_heads=4)),
    "Qwen2-VL 7B": ("qwen2_vl", dict(text_config=dict(
        vocab_size=152064, hidden_size=3584, intermediate_size=18944, num_hidden_layers=28, num_attention_heads=28,
        num_key_value_heads=4))),
    "Qwen3 8B": ("qwen3", dict(intermediate_size=12288, num_hidden_layers=36, num_key_value_heads=8)),
    "Phi-4": ("phi3", dict(vocab_size=100352, hidden_size=5120, intermediate_size=17920, num_hidden_layers=40,
                           num_attention_heads=40, num_key_value_heads=10, max_position_embeddings=16384,
                           pad_token_id=0)),
    "Gemma 3 1B": ("gemma3_text", dict(vocab_size=262144, hidden_size=1152, intermediate_size=6912,
                                       num_attention_heads=4, num_key_value_heads=1, sliding_window=512)),
    "Gemma 3 4B": ("gemma3", dict(text_config=dict(hidden_size=2560, intermediate_size=10240, num_hidden_layers=34,
                                                   sliding_window=1024))),
    "Gemma 3 27B": ("gemma3", dict(text_config=dict(hidden_size=5376, intermediate_size=21504, num_hidden_layers=62,
                                                    num_attention_heads=32, num_key_value_heads=16, head_dim=128,
                                                    sliding_window=1024))),
    "Mixtral 8x7B": ("mixtral", {}),
    "Qwen3 30B-A3B": ("qwen3_moe", dict(num_hidden_layers=48, head_dim=128)),
    "gpt-oss 20B": ("gpt_oss", dict(num_hidden_layers=24, num_local_experts=32)),
    "GLM-4.5-Air": ("glm4_moe", dict(head_dim=128, attention_bias=True)),
    "DeepSeek-V3": ("deepseek_v3", {}),
    "Llama-4-Scout": ("llama4", dict(text_config={})),
    "Llama-4-Maverick": ("llama4", dict(text_config=dict(num_local_experts=128, interleave_moe_layer_step=2))),
}

DECODER = dict(vocab_size=512, hidden_size=512, intermediate_size=1024, num_hidden_layers=6, num_attention_heads=8,
               num_key_value_heads=4, max_position_embeddings=128)
EXPERTS = dict(num_experts_per_tok=2, moe_intermediate_size=256)

# model_type: figures of a model that a CPU runs in seconds. Nothing is dropped.
SMALL = {
    "gpt2": dict(vocab_size=512, n_embd=512, n_layer=6, n_head=8, n_positions=128, resid_pdrop=0, embd_pdrop=0,
                 attn_pdrop=0, activation_function="gelu_pytorch_tanh"),
    "gpt_neox": dict(vocab_size=512, hidden_size=512, intermediate_size=2048, num_hidden_layers=6,
                     num_attention_heads=8, max_position_embeddings=128),
    "llama": DECODER,
    "mistral": DECODER,
    "qwen2": DECODER,
    "qwen3": DECODER | dict(head_dim=128),
    "phi3": DECODER | dict(pad_token_id=0),
    "gemma3_text": DECODER | dict(head_dim=128),
    "mixtral": DECODER | dict(num_local_experts=4),
    "qwen3_moe": DECODER | EXPERTS | dict(num_experts=8, head_dim=128),
    "gpt_oss": DECODER | dict(num_local_experts=4, num_experts_per_tok=2),
    "glm4_moe": DECODER | EXPERTS | dict(n_routed_experts=8, use_qk_norm=True),
    "deepseek_v3": DECODER | EXPERTS | dict(n_routed_experts=8, num_key_value_heads=8, q_lora_rank=192,
                                            kv_lora_rank=128, qk_rope_head_dim=32, qk_nope_head_dim=64, v_head_dim=64,
                                            first_k_dense_replace=2, n_group=2, topk_group=1),
    # Plain transformers computes all experts for all tokens here, so all are chosen.
    "llama4_text": DECODER | dict(num_local_experts=2, num_experts_per_tok=2, intermediate_size_mlp=1024,
                                  interleave_moe_layer_step=2, head_dim=64),
}
