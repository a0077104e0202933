// mover/analysis/rank_builder.hpp - the order in which a pipeline rank takes its micro-batches
// forward and backward; its operators and tensors, pass by pass.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "mover/analysis/layers.hpp"
#include "mover/input/parallel.hpp"
#include "mover/program/program.hpp"

namespace gradcoll::mover {

/// A Pass runs all layers of one of the rank's virtual stages, for one micro-batch, in one
/// direction.
struct Pass {
    bool forward = true;
    std::int32_t chunk = 0;  ///< the rank's virtual stage
    std::int32_t micro_batch = 0;
};

/// Returns the rank's passes in order. GPipe runs all forward passes, then all backward passes in
/// the same order. 1F1B runs min(m, p - 1 - rank) forward passes, then one of each in turn
/// (Narayanan et al., PipeDream-2BW). Interleaved does so with virtual stages, which come in groups
/// of p micro-batches (Narayanan et al., arXiv 2104.04473).
std::vector<Pass> passes_of(const Parallel& parallel, std::int32_t rank);

/// StageLayers lists the layers of each virtual stage of the whole pipeline.
using StageLayers = std::vector<std::vector<std::int32_t>>;

/// StepParts holds what all ranks are built from.
struct StepParts {
    const std::vector<DeviceLayer>& layers;
    const StageLayers& stages;
    const Parallel& parallel;
    const Cluster& cluster;
    std::int64_t boundary_bytes = 0;
};

struct BuiltPass {
    Pass pass;
    std::int32_t first_operator = 0;
};

class RankBuilder {
  public:
    /// `tensor_names` are those of the program; they and the parts must outlive this object.
    RankBuilder(const StepParts& parts, std::vector<std::string>& tensor_names, std::int32_t rank);

    RankProgram build();

    const std::vector<BuiltPass>& passes() const { return passes_; }
    std::int32_t last_of(const Pass& pass) const;

  private:
    /// State holds the indices of the tensors of one layer's model state; -1: the layer has no such
    /// tensor.
    struct State {
        std::int32_t parameters = -1, gradients = -1, optimizer = -1;
    };

    void add_states();
    void add_buffers();
    void add_pass(const Pass& pass);
    void forward(std::int32_t layer, std::int32_t micro_batch);
    void recompute(std::int32_t layer, std::int32_t micro_batch);
    void backward(std::int32_t layer, std::int32_t micro_batch);
    void add_reduces();
    void add_updates();

    const DeviceLayer& layer_at(std::int32_t layer) const;
    std::vector<std::int32_t>& kept_of(std::int32_t layer, std::int32_t micro_batch,
                                       std::int32_t part);
    bool is_recomputed(const DeviceLayer& layer) const;
    bool is_kept(const KeptPart& kept) const;
    std::int32_t name_of_tensor(const std::string& name);
    std::int32_t add_operator(Operator op);
    std::int32_t add_tensor(DeviceTensor tensor);
    std::int32_t add_state(MemoryKind kind, std::int32_t layer, std::int64_t bytes);
    std::int32_t add_forward_of_part(OperatorKind kind, std::int32_t layer,
                                     std::int32_t micro_batch, std::int32_t part);
    void make_kept(std::int32_t layer, std::int32_t micro_batch, std::int32_t part,
                   std::int32_t op);
    void use(std::int32_t tensor, std::int32_t op);
    /// Returns the bytes of the layer's gathered parameters and scattered gradients, if ZeRO shards
    /// them.
    std::int64_t gathered_bytes(const DeviceLayer& layer, bool backward) const;
    Tick with_gather(const DeviceLayer& layer, Tick duration) const;
    double both_ways_rate(const Lane& lane) const;
    /// Returns the part of a layer's numbers that this device has of states which ranks share from
    /// this stage of ZeRO on, in bytes.
    std::int64_t shared(const DeviceLayer& layer, std::int64_t number_bytes, int from_stage) const;
    /// Returns the bytes that each of the ranks with the same numbers sends to sum such numbers of
    /// a layer, or to gather them: half of it.
    double summed_bytes(const DeviceLayer& layer, std::int64_t number_bytes) const;

    const StepParts& parts_;
    std::vector<std::string>& tensor_names_;
    std::int32_t rank_;
    RankProgram out_;
    std::vector<std::int32_t> own_layers_;
    std::map<std::int32_t, State> states_;
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::vector<std::int32_t>> kept_;
    std::map<std::string, std::int32_t> names_;
    std::vector<BuiltPass> passes_;
    std::map<std::tuple<bool, std::int32_t, std::int32_t>, std::int32_t> last_;
};

}  // namespace gradcoll::mover
