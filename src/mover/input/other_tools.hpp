// mover/input/other_tools.hpp - descriptions that other simulators read: Calculon's application,
// execution and system (three files), and vTrain's configuration (one file that says all three).
// Which one a document is, its keys tell. Keys that say nothing about sizes or times are not looked
// at; what they mean that we cannot follow is refused. Errors of all: invalid_argument.
#pragma once

#include "mover/input/cluster.hpp"
#include "mover/input/model.hpp"
#include "mover/input/parallel.hpp"

namespace gradcoll::mover {

/// Keys that their files always have, and ours never.
bool is_calculon_model(const nlohmann::json& json);
bool is_calculon_parallel(const nlohmann::json& json);
bool is_calculon_cluster(const nlohmann::json& json);
bool is_vtrain(const nlohmann::json& json);

/// calculon-ai/calculon, models/*.json: hidden, feedforward, seq_size, attn_heads, attn_size,
/// num_blocks. The blocks alone, with eager attention, biases and dropout, as Calculon counts them.
Result<Model> model_of_calculon(const Document& document);
/// examples/*.json: tensor_par, pipeline_par, data_par, num_procs (their product), batch_size,
/// microbatch_size, pipeline_interleaving, activation_recompute, optimizer_sharding (ZeRO 1),
/// tensor_par_comm_type (rs_ag: sequence parallel), datatype, training. `--move` says what moves,
/// whatever *_offload says.
Result<Parallel> parallel_of_calculon(const Document& document);
/// systems/*.json: matrix.float16 (tflops, gflops_efficiency), mem1 and mem2 (GiB, GBps,
/// MB_efficiency), networks (bandwidth, efficiency, size, latency). Efficiencies are those of large
/// operations. mem2 is one device's; a host has that of the devices of networks[0].
Result<Cluster> cluster_of_calculon(const Document& document);

/// micro_batches out of a global batch, the samples of one step of all data-parallel ranks; `data`
/// and `micro_batch_size` are read. `key` is where the batch was written.
void set_micro_batches(Fields& in, std::string_view key, std::int64_t batch, Parallel& out);

/// VIA-Research/vTrain, config/*.json: num_layers, hidden_size, num_attention_heads, max_length,
/// vocab_size. Its models are GPTs with eager attention and learned positions.
Result<Model> model_of_vtrain(const Document& document);
/// num_gpus, tensor_, data_ and pipeline_parallel_size (one may be left out), global_batch_size,
/// micro_batch_size, use_checkpoint (full recomputation), pipeline_scheduling.
Result<Parallel> parallel_of_vtrain(const Document& document);
/// node_size, intra_node_bandwidth (GB/s), inter_node_bandwidth (Gb/s, of a node), gpu_name. What
/// it does not say comes from the device's data sheet; host memory is then no limit.
Result<Cluster> cluster_of_vtrain(const Document& document);

}  // namespace gradcoll::mover
