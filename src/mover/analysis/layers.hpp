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
    bool core = false;  ///< part of attention's core: selective recomputation makes it again

    bool operator==(const KeptPart&) const = default;
};

/// The parts of a layer run one after another; in backward the last part runs first.
struct LayerPart {
    std::string name;
    Tick forward = 0;
    Tick backward = 0;
    Tick core_forward = 0;             ///< what selective recomputation adds to backward
    std::int64_t workspace_bytes = 0;  ///< scratch memory while forward runs
    std::int64_t backward_workspace_bytes = 0;
    std::vector<KeptPart> kept{};

    bool operator==(const LayerPart&) const = default;
};

/// Says where a layer may stand: embedding and head go with the first and the last block.
enum class LayerPlace : std::uint8_t { first, block, last };

struct DeviceLayer {
    std::string name;
    LayerPlace place = LayerPlace::block;
    std::int64_t parameters = 0;   ///< numbers on one device, before ZeRO shares them
    std::int64_t of_experts = 0;   ///< those of them that expert-parallel devices share
    std::int64_t input_bytes = 0;  ///< bytes kept for a layer that is recomputed
    bool recomputable = true;
    std::vector<LayerPart> parts{};
};

/// Returns the layers in forward order. Errors: invalid_argument for sizes that cannot be divided,
/// or are larger than most_bytes; the message names the model's `origin`.
Result<std::vector<DeviceLayer>> layers_on_device(const Model& model, const Parallel& parallel,
                                                  const Cluster& cluster);

/// layers_on_device() calls the overload for the kind of model.
Result<std::vector<DeviceLayer>> layers_of(const TransformerModel& model, const Parallel& parallel,
                                           const Cluster& cluster);
Result<std::vector<DeviceLayer>> layers_of(const std::vector<ListedLayer>& model,
                                           const Parallel& parallel, const Cluster& cluster);

/// Returns the time of an operator that is bound by arithmetic or by device memory, whichever is
/// slower.
Tick roofline_ticks(const Cluster& cluster, double flops, double bytes);

/// Returns whether parameters are gathered over the devices' links, beside all operators (ZeRO 3).
bool gathers_over_link(const Parallel& parallel, const Cluster& cluster);

/// Returns the part of a device's lane that moves may use: half of it if gathers use the other
/// half.
Lane moving_lane(const Parallel& parallel, const Cluster& cluster);

/// Images says what images a sample has.
struct Images {
    std::int64_t count = 0;
    std::int64_t height = 0, width = 0;  ///< in pixels; 0: nobody says
    std::int64_t patches = 0;            ///< of one
    std::int64_t tokens = 0;             ///< that one takes of the sample's; 0: it cannot be read
};

/// Returns the images of a sample. Where the strategy does not say how many, there is one, if its
/// size is known and the sample has room for it. Errors: invalid_argument if the strategy asks for
/// other images than the model reads.
Result<Images> images_of(const Model& model, const Parallel& parallel);

/// Returns the layers of an encoder of such images, which all stand before the first block.
std::vector<DeviceLayer> tower_layers(const Tower& tower, const Images& images,
                                      const Parallel& parallel, const Cluster& cluster);

/// Returns how many tokens a sample has; 0: neither model nor strategy says it.
std::int64_t tokens_of_sample(const TransformerModel& model, const Parallel& parallel);

/// Returns how many bytes pass from one pipeline rank to the next for a micro-batch.
std::int64_t boundary_bytes(const Model& model, const Parallel& parallel);

}  // namespace gradcoll::mover
