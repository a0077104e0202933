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
    full        ///< everything in a layer except its input
};

struct Parallel {
    std::int64_t data = 1;
    std::int64_t context = 1;  ///< devices that share the tokens of each sample
    /// Says that each of them has all tokens of some heads in attention (DeepSpeed-Ulysses).
    /// Otherwise keys and values go around between them.
    bool context_by_heads = false;
    std::int64_t expert = 1;  ///< data- and context-parallel devices that share experts
    std::int64_t tensor = 1;
    std::int64_t pipeline = 1;
    std::int64_t virtual_stages = 1;  ///< for each pipeline rank; more than 1: interleaved
    std::int64_t micro_batches = 1;
    std::int64_t micro_batch_size = 1;
    std::int64_t sequence = 0;    ///< replaces the model's; 0: the model's
    std::int64_t images = -1;     ///< of each sample; -1: as many as images_of() says
    std::int64_t image_size = 0;  ///< sides in pixels, replacing the model's; 0: the model's
    std::int64_t zero = 0;        ///< stage of ZeRO
    bool sequence_parallel = false;
    bool fused_activation =
        false;  ///< whether its input is made again in backward instead of being kept
    ScheduleKind schedule = ScheduleKind::one_f_one_b;
    Recompute recompute = Recompute::none;
    /// One parameter takes these bytes. By default: 16-bit parameters, 32-bit sums of gradients,
    /// Adam with a 32-bit copy.
    std::int64_t parameter_bytes = 2, gradient_bytes = 4, optimizer_bytes = 12;
    bool reduce_in_host = false;               ///< whether gradients are summed in host memory
    std::int64_t collective_buffer_bytes = 0;  ///< in each device, for its collectives
};

/// Returns how many ranks hold the same parameters, but for those of experts, and sum gradients.
inline std::int64_t replicas(const Parallel& parallel) {
    return parallel.data * parallel.context;
}

/// ScheduleKeys says how a document calls the values that must fit together.
struct ScheduleKeys {
    std::string_view virtual_stages = "virtual_stages";
    std::string_view pipeline = "pipeline";
    std::string_view micro_batches = "micro_batches";
    std::string_view expert = "expert";
};

/// Records a fault if schedule, virtual stages, pipeline and micro-batches do not fit together,
/// experts cannot be dealt to the ranks, or there are too many devices. If no schedule is written,
/// the number of virtual stages decides.
void check_parallel(Fields& in, const ScheduleKeys& keys, Parallel& out);

/// Reads docs/schemas/mover-parallel.json. Errors: invalid_argument.
Result<Parallel> own_parallel(const Document& document);

}  // namespace gradcoll::mover
