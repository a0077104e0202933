// runtime/device/device_batch.hpp - local steps that are ready together, given to a device in as
// few launches as possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/chunk_view.hpp"
#include "runtime/device/device_side.hpp"
#include "runtime/operation.hpp"

namespace gradcoll {

/// Steps that are ready at the same time do not depend on one another, so their order is free.
/// Allocates only when it is made.
class DeviceBatch {
  public:
    /// Makes room for `steps` steps.
    explicit DeviceBatch(std::size_t steps);

    bool empty() const { return works_.empty(); }
    /// Adds a step. `residual` belongs to an encode step, or is null.
    void add(const Step& step, const ChunkView& view, std::byte* residual);
    /// Launches all steps on the work stream and forgets them, also if one is refused. Errors:
    /// those of LaunchCodec, LaunchReduce and DeviceStream::copy.
    Status launch(DeviceSide& side, const Operation& operation, std::uint32_t* invalid);

  private:
    /// Steps share a launch if their Kinds are equal.
    struct Kind {
        StepKind step = StepKind::copy;
        CodecId codec = CodecId::exact;
        bool with_residual = false;
        friend bool operator==(const Kind&, const Kind&) = default;
    };
    struct Work {
        Kind kind;
        const std::byte* from = nullptr;  ///< payload, elements, or what is copied
        const std::byte* base = nullptr;  ///< X of `to = X op from`
        std::byte* residual = nullptr;
        std::byte* to = nullptr;
        std::size_t count = 0;
        // These belong to codecs of variable rate, whose payloads count from the begin of the
        // scratch.
        CodedBlock* from_blocks = nullptr;
        CodedBlock* to_blocks = nullptr;
        std::size_t blocks_at = 0;  ///< where an encoder begins
        std::size_t block_count = 0;
    };

    Status launch_codec(const Kind& kind, DeviceSide& side, const Operation& operation,
                        std::uint32_t* invalid);
    Status launch_reduce(const Kind& kind, DeviceSide& side, const Operation& operation);
    static Work work_on_blocks(Work work, const Step& step, const ChunkView& view);
    Status launch_moves(const Kind& kind, DeviceSide& side);
    Status launch_copies(const Kind& kind, DeviceSide& side, const Operation& operation);

    std::vector<Work> works_;
    std::vector<CodecJob> codec_jobs_;
    std::vector<ReduceJob> reduce_jobs_;
    std::vector<BlockMove> moves_;
};

}  // namespace gradcoll
