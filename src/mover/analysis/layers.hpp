// mover/analysis/layers.hpp - the model as one device of a tensor-parallel group sees it: what each
// layer keeps and how long it takes, for one micro-batch.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "mover/input/cluster.hpp"
#include "mover/input/model.hpp"
#include "mover/input/parallel.hpp"

namespace gradcoll::mover {

struct KeptPart {
    std::string name;
    std::int64_t bytes = 0;
    bool core = false;  ///< of attention's core: made again by selective recomputation
};

/// Operators of a layer run part after part; backward the other way round.
struct LayerPart {
    std::string name;
    Tick forward = 0;
    Tick backward = 0;
    Tick core_forward = 0;             ///< what selective recomputation adds to backward
    std::int64_t workspace_bytes = 0;  ///< while forward runs
    std::int64_t backward_workspace_bytes = 0;
    std::vector<KeptPart> kept{};
};

/// Where a layer may stand: embedding and head go with the first and the last block.
enum class LayerPlace : std::uint8_t { first, block, last };

struct DeviceLayer {
    std::string name;
    LayerPlace place = LayerPlace::block;
    std::int64_t parameters = 0;   ///< numbers on one device, before ZeRO shares them
    std::int64_t input_bytes = 0;  ///< kept of a layer that is recomputed
    bool recomputable = true;
    std::vector<LayerPart> parts{};
};

/// In the order of forward. Errors: invalid_argument for what cannot be divided, or is larger than
/// most_bytes; `origin` is the model's.
Result<std::vector<DeviceLayer>> layers_on_device(const Model& model, const Parallel& parallel,
                                                  const Cluster& cluster);

/// The same of each kind of model.
Result<std::vector<DeviceLayer>> layers_of(const TransformerModel& model, const Parallel& parallel,
                                           const Cluster& cluster);
Result<std::vector<DeviceLayer>> layers_of(const std::vector<ListedLayer>& model,
                                           const Parallel& parallel, const Cluster& cluster);

/// What an operator takes that is bound by arithmetic or by device memory, whichever is slower.
Tick roofline_ticks(const Cluster& cluster, double flops, double bytes);

/// Whether parameters are gathered over the devices' links, beside all operators (ZeRO 3).
bool gathers_over_link(const Parallel& parallel, const Cluster& cluster);

/// What moves have of a device's lane: half of it, where gathers have the other half.
Lane moving_lane(const Parallel& parallel, const Cluster& cluster);

/// Bytes that pass from one pipeline rank to the next for a micro-batch.
std::int64_t boundary_bytes(const Model& model, const Parallel& parallel);

}  // namespace gradcoll::mover
