// executor_run.cpp - runs the library's own executor with real data in the simulation.
#include "replay.hpp"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "base/hash.hpp"
#include "runtime/executor.hpp"
#include "smpi_lane.hpp"

namespace gradcoll::simulate {
namespace {

/// Returns a value so small that sums over 32767 ranks are exact in fp32.
float value_of(int rank, std::int64_t element) {
    return static_cast<float>((element * 7 + rank * 13) % 97);
}

Status run_plan(const Plan& plan, const Way& way, const std::vector<float>& input,
                std::vector<float>& output) {
    SmpiChannel channel;
    Executor::Options options;
    options.chunks_in_flight = way.chunks_in_flight;
    options.paced = way.paced;
    Result<std::unique_ptr<Executor>> executor =
        Executor::make(std::make_shared<const Plan>(plan), channel, options);
    if (!executor.ok()) return executor.status();
    Binding binding;
    binding.input = input.data();
    binding.output = output.data();
    binding.reducer = reducer_for(ReduceOp::sum, plan.spec.type);
    GRADCOLL_TRY((*executor)->start(binding));
    while (true) {
        const Result<Progress> progress = (*executor)->advance();
        if (!progress.ok()) return progress.status();
        if (*progress == Progress::complete) return {};
        if (*progress == Progress::idle) channel.block();
    }
}

std::string wrong_sum(const Plan& plan, const std::vector<float>& output) {
    for (std::size_t i = 0; i < output.size(); ++i) {
        float sum = 0;
        for (int rank = 0; rank < plan.rank_count; ++rank)
            sum += value_of(rank, static_cast<std::int64_t>(i));
        if (output[i] != sum)
            return fmt::format("rank {} element {}: {} instead of {}", plan.rank, i, output[i],
                               sum);
    }
    return {};
}

bool is_exact(const PlanSpec& spec) {
    for (const VertexChoice& choice : spec.choices)
        if (choice.codec != CodecId::exact) return false;
    return spec.down_codec == CodecId::exact;
}

}  // namespace

std::string run_executor(const Plan& plan, const Way& way, std::uint64_t& digest) {
    std::vector<float> input(static_cast<std::size_t>(plan.spec.count_elems));
    std::vector<float> output(input.size());
    for (std::size_t i = 0; i < input.size(); ++i)
        input[i] = value_of(plan.rank, static_cast<std::int64_t>(i));
    const Status status = run_plan(plan, way, input, output);
    if (!status.ok()) return fmt::format("rank {}: {}", plan.rank, status.message());
    Hash hash;
    for (const float value : output) hash.value(value);
    digest = hash.digest();
    return is_exact(plan.spec) ? wrong_sum(plan, output) : std::string();
}

}  // namespace gradcoll::simulate
