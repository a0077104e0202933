// gc_bench decisions - measures what rank 0 of an engine computes to let the gradients of a step
// begin: it reads and gathers records of all ranks, and writes verdicts. The messages themselves
// are not included. Items are gradients, so items a second are decisions a second.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "engine/coordinator.hpp"
#include "models.hpp"

namespace {

using namespace gradcoll;

constexpr std::uint64_t pack_bytes = 65536;

Ready ready_of(std::uint32_t number, const Parameter& parameter) {
    const std::uint64_t bytes = parameter.count * 4;
    return {.number = number,
            .priority = static_cast<std::int32_t>(number),
            .bytes = bytes,
            .shape = parameter.count,
            .pack = bytes <= pack_bytes / 4 ? 1U : 0U,
            .name = {},
            .shape_text = {},
            .rank = 0,
            .error = {}};
}

/// Returns a rank's gradients in an order of its own, as its messages bring them.
std::string records_of(std::size_t rank, const std::vector<Parameter>& parameters) {
    std::vector<std::uint32_t> order(parameters.size());
    std::iota(order.begin(), order.end(), 0U);
    std::mt19937 random(static_cast<unsigned>(rank));
    std::shuffle(order.begin(), order.end(), random);
    ByteWriter writer;
    for (const std::uint32_t number : order) write(ready_of(number, parameters[number]), writer);
    return writer.take();
}

/// Lets all gradients begin that may; returns how many bytes say so.
std::size_t begin_all(Coordinator& coordinator, std::vector<Verdict>& verdicts) {
    std::size_t bytes = 0;
    while (coordinator.next(UINT64_MAX, verdicts)) {
        ByteWriter writer;
        for (const Verdict& verdict : verdicts) write(verdict, writer);
        bytes += writer.take().size();
        coordinator.ended(verdicts.front().number);
    }
    return bytes;
}

void give_numbers(Coordinator& coordinator, std::size_t ranks,
                  const std::vector<Parameter>& parameters, std::vector<Verdict>& verdicts) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        Ready first = ready_of(unnumbered, parameters[i]);
        first.pack = 0;
        first.name = parameters[i].name;
        for (std::size_t rank = 0; rank < ranks; ++rank)
            if (!coordinator.add(rank, first, 0).ok()) std::abort();
        begin_all(coordinator, verdicts);
    }
}

void decisions(benchmark::State& state) {
    const auto ranks = static_cast<std::size_t>(state.range(0));
    const std::vector<Parameter> parameters = resnet50();
    Coordinator coordinator(flat_circle(0, static_cast<int>(ranks)).members, pack_bytes);
    std::vector<Verdict> verdicts;
    give_numbers(coordinator, ranks, parameters, verdicts);
    std::vector<std::string> messages;
    for (std::size_t rank = 0; rank < ranks; ++rank)
        messages.push_back(records_of(rank, parameters));
    std::size_t told = 0;
    Ready ready;
    for (auto _ : state) {
        told = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            ByteReader reader(messages[rank]);
            while (reader.size_left() > 0)
                if (!read(reader, ready).ok() || !coordinator.add(rank, ready, 0).ok())
                    std::abort();
        }
        told = begin_all(coordinator, verdicts);
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(parameters.size()));
    state.counters["bytes from a rank"] = static_cast<double>(messages.front().size());
    state.counters["bytes to a rank"] = static_cast<double>(told);
}
BENCHMARK(decisions)->Arg(2)->Arg(8)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
