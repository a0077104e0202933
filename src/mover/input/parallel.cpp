// mover/input/parallel.cpp - reads docs/schemas/mover-parallel.json.
#include "mover/input/parallel.hpp"

#include <fmt/format.h>

namespace gradcoll::mover {
namespace {

constexpr std::int64_t most_ranks = 1 << 16;

void read_numbers(Fields& in, Parallel& out) {
    in.integer("data", 1, most_ranks, out.data);
    in.integer("context", 1, most_ranks, out.context);
    in.integer("expert", 1, most_ranks, out.expert);
    in.integer("tensor", 1, most_ranks, out.tensor);
    in.integer("pipeline", 1, 4096, out.pipeline);
    in.integer("virtual_stages", 1, 4096, out.virtual_stages);
    in.integer("micro_batches", 1, most_micro_batches, out.micro_batches);
    in.integer("micro_batch_size", 1, most_micro_batches, out.micro_batch_size);
    in.integer("sequence", 1, std::int64_t{1} << 24, out.sequence);
    in.integer("images", 0, 1 << 16, out.images);
    in.integer("image_size", 1, 1 << 16, out.image_size);
    in.integer("zero", 0, 3, out.zero);
    in.integer("parameter_bytes", 1, 8, out.parameter_bytes);
    in.integer("gradient_bytes", 1, 8, out.gradient_bytes);
    in.integer("optimizer_bytes", 0, 64, out.optimizer_bytes);
    in.bytes("collective_buffer_bytes", 0, most_bytes, out.collective_buffer_bytes);
}

}  // namespace

void check_parallel(Fields& in, const ScheduleKeys& keys, Parallel& out) {
    const bool interleaved = out.virtual_stages > 1;
    if (!in.has("schedule") && interleaved) out.schedule = ScheduleKind::interleaved;
    if (interleaved && out.schedule != ScheduleKind::interleaved)
        in.wrong("schedule", "virtual_stages > 1 allow interleaved alone");
    if (!interleaved && out.schedule == ScheduleKind::interleaved)
        in.wrong(keys.virtual_stages, "interleaved needs at least 2");
    if (interleaved && out.pipeline == 1) in.wrong(keys.pipeline, "virtual stages need at least 2");
    if (interleaved && out.micro_batches % out.pipeline != 0)
        in.wrong(keys.micro_batches,
                 fmt::format("interleaved allows multiples of pipeline, {}", out.pipeline));
    constexpr std::int64_t most_devices = 1 << 20;
    if (size_product({out.data, out.context, out.tensor, out.pipeline}) > most_devices)
        in.wrong(keys.pipeline, fmt::format("data-, context-, tensor- and pipeline-parallel ranks "
                                            "may be {} devices",
                                            most_devices));
    if (replicas(out) % out.expert != 0)
        in.wrong(keys.expert, fmt::format("allowed are divisors of the data- and context-parallel "
                                          "ranks, {}",
                                          replicas(out)));
}

Result<Parallel> own_parallel(const Document& document) {
    Parallel out;
    Fields in(document.json, document.origin);
    read_numbers(in, out);
    in.flag("sequence_parallel", out.sequence_parallel);
    in.flag("fused_activation", out.fused_activation);
    in.word<ScheduleKind>("schedule",
                          {{"gpipe", ScheduleKind::gpipe},
                           {"1f1b", ScheduleKind::one_f_one_b},
                           {"interleaved", ScheduleKind::interleaved}},
                          out.schedule);
    in.word<Recompute>(
        "recompute",
        {{"none", Recompute::none}, {"selective", Recompute::selective}, {"full", Recompute::full}},
        out.recompute);
    in.word<bool>("context_by", {{"ring", false}, {"heads", true}}, out.context_by_heads);
    in.word<bool>("reduce_from", {{"device", false}, {"host", true}}, out.reduce_in_host);
    GRADCOLL_TRY(in.done());
    check_parallel(in, {}, out);
    if (out.reduce_in_host && replicas(out) == 1)
        in.wrong("reduce_from",
                 "nothing is reduced without data-parallel ranks: host needs data > 1");
    GRADCOLL_TRY(in.done());
    return out;
}

}  // namespace gradcoll::mover
