"""What mover-models builds: figures of models as they were published, and small ones of the same families."""

SIGLIP = dict(hidden_size=1152, intermediate_size=4304, num_hidden_layers=27, num_attention_heads=16, image_size=896,
              patch_size=14, vision_use_head=False)
LLAMA_4_VISION = dict(hidden_size=1408, vision_output_dim=4096, image_size=336)

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
    "Qwen2.5-VL 7B": ("qwen2_5_vl", dict(vision_config=dict(hidden_size=1280), text_config=dict(
        vocab_size=152064, hidden_size=3584, intermediate_size=18944, num_hidden_layers=28, num_attention_heads=28,
        num_key_value_heads=4))),
    "Qwen3-VL 8B": ("qwen3_vl", dict(vision_config=dict(out_hidden_size=4096), text_config=dict(
        intermediate_size=12288, num_hidden_layers=36, num_key_value_heads=8))),
    "Qwen3 8B": ("qwen3", dict(intermediate_size=12288, num_hidden_layers=36, num_key_value_heads=8)),
    "Phi-4": ("phi3", dict(vocab_size=100352, hidden_size=5120, intermediate_size=17920, num_hidden_layers=40,
                           num_attention_heads=40, num_key_value_heads=10, max_position_embeddings=16384,
                           pad_token_id=0)),
    "Gemma 3 1B": ("gemma3_text", dict(vocab_size=262144, hidden_size=1152, intermediate_size=6912,
                                       num_attention_heads=4, num_key_value_heads=1, sliding_window=512)),
    "Gemma 3 4B": ("gemma3", dict(
        vision_config=SIGLIP, text_config=dict(hidden_size=2560, intermediate_size=10240, num_hidden_layers=34,
                                               sliding_window=1024))),
    "Gemma 3 27B": ("gemma3", dict(
        vision_config=SIGLIP, text_config=dict(hidden_size=5376, intermediate_size=21504, num_hidden_layers=62,
                                               num_attention_heads=32, num_key_value_heads=16, head_dim=128,
                                               sliding_window=1024))),
    "Mixtral 8x7B": ("mixtral", {}),
    "Qwen3 30B-A3B": ("qwen3_moe", dict(num_hidden_layers=48, head_dim=128)),
    "gpt-oss 20B": ("gpt_oss", dict(num_hidden_layers=24, num_local_experts=32)),
    "GLM-4.5-Air": ("glm4_moe", dict(head_dim=128, attention_bias=True)),
    "DeepSeek-V3": ("deepseek_v3", {}),
    "Llama-4-Scout": ("llama4", dict(vision_config=LLAMA_4_VISION, text_config={})),
    "Llama-4-Maverick": ("llama4", dict(vision_config=LLAMA_4_VISION, text_config=dict(num_local_experts=128, interleave_moe_layer_step=2))),
    "ModernBERT base": ("modernbert", {}),
    "ModernBERT large": ("modernbert", dict(hidden_size=1024, intermediate_size=2624, num_hidden_layers=28,
                                            num_attention_heads=16)),
    "ViT-L/16": ("vit", dict(hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16,
                             num_labels=1000)),
    "T5 3B": ("t5", dict(d_model=1024, d_ff=16384, d_kv=128, num_layers=24, num_heads=32)),
    "T5 v1.1 large": ("t5", dict(d_model=1024, d_ff=2816, num_layers=24, num_heads=16, feed_forward_proj="gated-gelu")),
    "Whisper large v3": ("whisper", dict(
        vocab_size=51866, num_mel_bins=128, d_model=1280, encoder_layers=32, encoder_attention_heads=20,
        encoder_ffn_dim=5120, decoder_layers=32, decoder_attention_heads=20, decoder_ffn_dim=5120)),
    "Mamba-2 2.7B": ("mamba2", dict(vocab_size=50288, hidden_size=2560, num_heads=80, n_groups=1)),
    "Falcon-H1 7B": ("falcon_h1", dict(
        vocab_size=130049, hidden_size=3072, intermediate_size=12288, num_hidden_layers=44, num_attention_heads=12,
        num_key_value_heads=2, head_dim=128, mamba_d_ssm=3072, mamba_n_heads=24, mamba_d_head=128)),
}

DECODER = dict(vocab_size=512, hidden_size=512, intermediate_size=1024, num_hidden_layers=6, num_attention_heads=8,
               num_key_value_heads=4, max_position_embeddings=128)
EXPERTS = dict(num_experts_per_tok=2, moe_intermediate_size=256)

# Of images of 112 (or 128) pixels, in 8 x 8 patches that become 16 tokens.
TEXT = DECODER | dict(head_dim=64)
ENCODER = dict(hidden_size=512, intermediate_size=1024, num_hidden_layers=4, num_attention_heads=8, image_size=112,
               patch_size=14)
QWEN_ENCODER = dict(depth=4, hidden_size=512, num_heads=8)
QWEN_TOKENS = dict(image_token_id=5, vision_start_token_id=6, video_token_id=7, vision_end_token_id=8)
QWEN_TEXT = TEXT | dict(rope_parameters=dict(rope_type="default", rope_theta=1e6, mrope_section=[8, 12, 12]))

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
    "modernbert": dict(vocab_size=512, hidden_size=512, intermediate_size=768, num_hidden_layers=6,
                       num_attention_heads=8, max_position_embeddings=128, pad_token_id=0, cls_token_id=1,
                       sep_token_id=2, bos_token_id=1, eos_token_id=2),
    "vit": dict(hidden_size=512, intermediate_size=2048, num_hidden_layers=6, num_attention_heads=8, image_size=176),
    "t5": dict(vocab_size=512, d_model=512, d_ff=2048, num_layers=3, dropout_rate=0, decoder_start_token_id=0),
    "whisper": dict(vocab_size=512, d_model=512, encoder_layers=3, encoder_attention_heads=8, encoder_ffn_dim=2048,
                    decoder_layers=3, decoder_attention_heads=8, decoder_ffn_dim=2048, max_source_positions=128,
                    max_target_positions=128, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                    decoder_start_token_id=1),
    "mamba2": dict(vocab_size=512, hidden_size=512, num_hidden_layers=6, num_heads=16, state_size=64, n_groups=1),
    "falcon_h1": DECODER | dict(mamba_d_ssm=768, mamba_n_heads=12, mamba_d_head=64, mamba_d_state=64),
    "mistral3": dict(image_token_index=5, vision_config=ENCODER, text_config=TEXT),
    "gemma3": dict(image_token_index=5, boi_token_index=6, eoi_token_index=7, mm_tokens_per_image=16,
                   vision_config=ENCODER | dict(vision_use_head=False), text_config=TEXT),
    "llama4": dict(image_token_index=5, boi_token_index=6, eoi_token_index=7,
                   vision_config=ENCODER | dict(intermediate_size=2048, projector_input_dim=512,
                                                projector_output_dim=512, vision_output_dim=512),
                   text_config=TEXT | dict(num_local_experts=2, num_experts_per_tok=2, intermediate_size_mlp=1024,
                                           interleave_moe_layer_step=2)),
    "qwen2_vl": QWEN_TOKENS | dict(vision_config=QWEN_ENCODER | dict(embed_dim=512, patch_size=14),
                                   text_config=QWEN_TEXT),
    "qwen2_5_vl": QWEN_TOKENS | dict(
        vision_config=QWEN_ENCODER | dict(intermediate_size=1024, out_hidden_size=512, patch_size=14, window_size=56,
                                          fullatt_block_indexes=[3]), text_config=QWEN_TEXT),
    "qwen3_vl": QWEN_TOKENS | dict(
        vision_config=QWEN_ENCODER | dict(intermediate_size=1024, out_hidden_size=512, patch_size=16,
                                          num_position_embeddings=64, deepstack_visual_indexes=[1, 2]),
        text_config=QWEN_TEXT),
}
