// mover/input/other_tools.hpp - reads descriptions of other simulators: Calculon's application,
// execution and system (three files), and vTrain's configuration (one file for all three). The keys
// of a document tell which one it is. Keys that say nothing about sizes or times are ignored;
// features that we cannot model are refused. Errors of all readers: invalid_argument.
#pragma once

#include "mover/input/cluster.hpp"
#include "mover/input/model.hpp"
#include "mover/input/parallel.hpp"

namespace gradcoll::mover {

/// These look for keys that files of that kind always have, and ours never have.
bool is_calculon_model(const nlohmann::json& json);
bool is_calculon_parallel(const nlohmann::json& json);
bool is_calculon_cluster(const nlohmann::json& json);
bool is_vtrain(const nlohmann::json& json);

/// Reads models/*.json of calculon-ai/calculon: hidden, feedforward, seq_size, attn_heads,
/// attn_size, num_blocks. The model has only the blocks, with eager attention, biases and dropout,
/// as Calculon counts them.
Result<Model> model_of_calculon(const Document& document);
/// Reads examples/*.json: tensor_par, pipeline_par, data_par, num_procs (their product),
/// batch_size, microbatch_size, pipeline_interleaving, activation_recompute, optimizer_sharding
/// (ZeRO 1), tensor_par_comm_type (rs_ag: sequence parallel), datatype, training. `--move` says
/// what moves; *_offload is ignored.
Result<Parallel> parallel_of_calculon(const Document& document);
/// Reads systems/*.json: matrix.float16 (tflops, gflops_efficiency), mem1 and mem2 (GiB, GBps,
/// MB_efficiency), networks (bandwidth, efficiency, size, latency). Efficiencies are those of large
/// operations. mem2 belongs to one device; a host has that of all devices of networks[0].
Result<Cluster> cluster_of_calculon(const Document& document);

/// Sets micro_batches from a global batch: the samples of one step of all data-parallel ranks. Uses
/// out's `data` and `micro_batch_size`. `key` is where the batch was written.
void set_micro_batches(Fields& in, std::string_view key, std::int64_t batch, Parallel& out);

/// Reads config/*.json of VIA-Research/vTrain: num_layers, hidden_size, num_attention_heads,
/// max_length, vocab_size. Its models are GPTs with eager attention and learned positions.
Result<Model> model_of_vtrain(const Document& document);
/// Reads num_gpus, tensor_, data_ and pipeline_parallel_size (one may be left out),
/// global_batch_size, micro_batch_size, use_checkpoint (full recomputation), pipeline_scheduling.
Result<Parallel> parallel_of_vtrain(const Document& document);
/// Reads node_size, intra_node_bandwidth (GB/s), inter_node_bandwidth (Gb/s, for a node), gpu_name.
/// The device's data sheet supplies the rest; host memory is then no limit.
Result<Cluster> cluster_of_vtrain(const Document& document);

}  // namespace gradcoll::mover
