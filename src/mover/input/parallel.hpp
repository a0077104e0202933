// mover/input/parallel.hpp - how the training step is spread over devices and micro-batches.
#pragma once

#include <cstdint>
#include <string_view>

#include "mover/input/fields.hpp"
#include "mover/program/ticks.hpp"

namespace gradcoll::mover {

inline constexpr std::int64_t most_micro_batches = 1 << 16;

enum class ScheduleKind : std::uint8_t { gpipe, one_f_one_b, interleaved };
enum class Recompute : std::uint8_t {
    none,
    selective,  ///< the core of attention, which is large and cheap
    full        ///< all of a layer but its input
};

struct Parallel {
    std::int64_t data = 1;
    std::int64_t tensor = 1;
    std::int64_t pipeline = 1;
    std::int64_t virtual_stages = 1;  ///< of a pipeline rank; more than 1: interleaved
    std::int64_t micro_batches = 1;
    std::int64_t micro_batch_size = 1;
    std::int64_t sequence = 0;  ///< instead of the model's; 0: the model's
    std::int64_t zero = 0;      ///< stage of ZeRO
    bool sequence_parallel = false;
    bool fused_activation = false;  ///< its input is made again in backward, not kept
    ScheduleKind schedule = ScheduleKind::one_f_one_b;
    Recompute recompute = Recompute::none;
    /// Of one parameter. By default: 16-bit parameters, 32-bit sums of gradients, Adam with a
    /// 32-bit copy.
    std::int64_t parameter_bytes = 2, gradient_bytes = 4, optimizer_bytes = 12;
    bool reduce_in_host = false;               ///< gradients are summed in host memory
    std::int64_t collective_buffer_bytes = 0;  ///< in each device, for its collectives
};

/// How a document calls what must fit together.
struct ScheduleKeys {
    std::string_view virtual_stages = "virtual_stages";
    std::string_view pipeline = "pipeline";
    std::string_view micro_batches = "micro_batches";
};

/// Faults where schedule, virtual stages, pipeline and micro-batches do not fit together, or the
/// devices are too many. A schedule that is not written follows from the number of virtual stages.
void check_parallel(Fields& in, const ScheduleKeys& keys, Parallel& out);

/// docs/schemas/mover-parallel.json. Errors: invalid_argument.
Result<Parallel> own_parallel(const Document& document);

}  // namespace gradcoll::mover
