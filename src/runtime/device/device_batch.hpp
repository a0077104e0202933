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
    /// Room for so many steps.
    explicit DeviceBatch(std::size_t steps);

    bool empty() const { return works_.empty(); }
    /// `residual`: of an encode step, or null.
    void add(const Step& step, const ChunkView& view, std::byte* residual);
    /// Launches all steps on the work stream and forgets them, also if one is refused. Errors:
    /// those of LaunchCodec, LaunchReduce and DeviceStream::copy.
    Status launch(DeviceSide& side, const Operation& operation, std::uint32_t* invalid);

  private:
    /// What must be equal for steps to share a launch.
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
    };

    Status launch_codec(const Kind& kind, DeviceSide& side, const Operation& operation,
                        std::uint32_t* invalid);
    Status launch_reduce(const Kind& kind, DeviceSide& side, const Operation& operation);
    Status launch_copies(const Kind& kind, DeviceSide& side, const Operation& operation);

    std::vector<Work> works_;
    std::vector<CodecJob> codec_jobs_;
    std::vector<ReduceJob> reduce_jobs_;
};

}  // namespace gradcoll
