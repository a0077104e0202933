// osu-bench/reduce/main.cpp - measures the reduction kernels: bytes of one operand a
// second, and the ratio to a memcpy of as many bytes, timed in turns so that both see the same
// state of the machine.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include "memory/arena.hpp"
#include "plain_loop.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll {
namespace {

constexpr ElementType types[] = {ElementType::f32, ElementType::f64, ElementType::bf16,
                                 ElementType::f16, ElementType::i32};
constexpr std::int64_t sizes_bytes[] = {64 << 10, 64 << 20};

/// Operands are three arrays of one size, each touched, so that no page fault is timed.
struct Operands {
    explicit Operands(std::size_t bytes) {
        for (Arena* arena : {&a, &b, &out}) {
            if (!arena->reserve(bytes).ok()) std::abort();
            std::memset(arena->data(), 0, bytes);
        }
    }
    Arena a, b, out;
};

template <class Work>
double seconds_of(Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    benchmark::ClobberMemory();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Work>
void time_beside_memcpy(benchmark::State& state, Operands& operands, Work work) {
    const auto bytes = static_cast<std::size_t>(state.range(0));
    double work_seconds = 0;
    double copy_seconds = 0;
    for (auto _ : state) {
        const double once = seconds_of(work);
        copy_seconds +=
            seconds_of([&] { std::memcpy(operands.out.data(), operands.a.data(), bytes); });
        work_seconds += once;
        state.SetIterationTime(once);
    }
    state.SetBytesProcessed(state.iterations() * state.range(0));
    state.counters["of_memcpy"] = copy_seconds / work_seconds;
}

void reduce(benchmark::State& state, ReduceOp op, ElementType type, InstructionSet set,
            bool in_place) {
    Operands operands(static_cast<std::size_t>(state.range(0)));
    const Reducer reducer = reducer_for(op, type, set);
    const std::size_t count = static_cast<std::size_t>(state.range(0)) / reducer.element_bytes;
    std::byte* out = in_place ? operands.b.data() : operands.out.data();
    time_beside_memcpy(state, operands,
                       [&] { reducer(operands.a.data(), operands.b.data(), out, count); });
}

void plain(benchmark::State& state, bool in_place) {
    Operands operands(static_cast<std::size_t>(state.range(0)));
    const auto* a = reinterpret_cast<const float*>(operands.a.data());
    auto* b = reinterpret_cast<float*>(operands.b.data());
    auto* out = in_place ? b : reinterpret_cast<float*>(operands.out.data());
    time_beside_memcpy(state, operands, [&] {
        plain_sum(a, b, out, static_cast<std::size_t>(state.range(0)) / sizeof(float));
    });
}

template <class Function>
void add(const std::string& name, Function function) {
    auto* entry = benchmark::RegisterBenchmark(name.c_str(), function);
    for (const std::int64_t bytes : sizes_bytes) entry->Arg(bytes);
    entry->UseManualTime();
}

void add_all() {
    for (const bool in_place : {false, true}) {
        const std::string where = in_place ? "in_place" : "apart";
        add("sum/fp32/plain_loop/" + where,
            [=](benchmark::State& state) { plain(state, in_place); });
        for (const ElementType type : types)
            for (const InstructionSet set : all_instruction_sets) {
                if (!cpu_has(set)) continue;
                const std::string name = "sum/" + std::string(name_of(type)) + "/" +
                                         std::string(name_of(set)) + "/" + where;
                add(name, [=](benchmark::State& state) {
                    reduce(state, ReduceOp::sum, type, set, in_place);
                });
            }
    }
}

}  // namespace
}  // namespace gradcoll

int main(int argc, char** argv) {
    gradcoll::add_all();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
