// osu-bench/lane/main.cpp - times one allreduce on a flat tree, over MPI alone, through cells of
// shared memory, and with large messages read from their senders: in turns, in one run.
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "checked.hpp"
#include "collectives/build/planner.hpp"
#include "collectives/plan/plan.hpp"
#include "command_line/option_parser.hpp"
#include "reduce/reducer.hpp"
#include "runtime/executor.hpp"
#include "summary.hpp"
#include "topology/text.hpp"
#include "transport/mpi/mpi_channel.hpp"
#include "transport/routed/make_channel.hpp"

namespace gradcoll {
namespace {

struct Settings {
    std::vector<std::int64_t> sizes_bytes = {16384, 65536, 1 << 20, 16 << 20};
    std::vector<std::string> codecs = {"exact", "2:4"};
    std::int64_t chunk_bytes = 1 << 20;
    double seconds = 1;  ///< for every row, about
};

CodecId codec_named(const std::string& name) {
    const CodecId codec = checked(codec_from_name(name));
    check(check_told(codec));
    return codec;
}

PlanSpec spec_of(const Tree& tree, std::int64_t size_bytes, CodecId codec,
                 std::int64_t chunk_bytes) {
    PlanSpec spec;
    spec.count_elems = size_bytes / 4;
    spec.granule_elems = static_cast<std::int64_t>(codec_block_elems(codec));
    if (chunk_bytes > 0 && chunk_bytes < size_bytes) spec.chunk_elems = chunk_bytes / 4;
    spec.down_codec = codec;
    spec.choices = std::vector(static_cast<std::size_t>(tree.vertex_count()),
                               VertexChoice{Exchange::direct, codec});
    return spec;
}

/// A Way is one way to exchange messages, with the times that its runs took.
struct Way {
    std::string name;
    MPI_Comm comm = MPI_COMM_NULL;
    std::unique_ptr<Channel> channel;
    std::unique_ptr<Executor> executor;
    std::vector<double> times_us;
};

MPI_Comm duplicate() {
    MPI_Comm comm = MPI_COMM_NULL;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

std::vector<Way> all_ways() {
    std::vector<Way> ways(3);
    for (Way& way : ways) way.comm = duplicate();
    ways[0].name = "mpi";
    ways[0].channel = checked(MpiChannel::make(ways[0].comm));
    ways[1].name = "cells";
    ways[1].channel = checked(make_channel(ways[1].comm, {.read_peers = false}));
    ways[2].name = "reads";
    ways[2].channel = checked(make_channel(ways[2].comm, {.read_peers = true}));
    return ways;
}

/// Returns the slowest rank's time. The input is written anew each time, as a program that computes
/// gradients does: what a peer has in its caches from the last run must not help.
double timed_run(Way& way, std::vector<float>& input, const Binding& binding) {
    for (float& value : input) value = -value;
    PMPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    check(way.executor->run(binding));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    double slowest = took.count();
    PMPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/// Checks that every way gives the same bits.
void check_equal(std::vector<Way>& ways, const Binding& binding, const std::vector<float>& output) {
    std::vector<float> first;
    for (Way& way : ways) {
        check(way.executor->run(binding));
        if (first.empty()) first = output;
        if (output != first)
            throw std::runtime_error(way.name + ": other values than " + ways[0].name);
    }
}

/// Runs rounds over all ways until the time is up; every round begins with another way.
void run_in_turns(std::vector<Way>& ways, std::vector<float>& input, const Binding& binding,
                  double seconds) {
    constexpr std::size_t least_rounds = 5;
    for (Way& way : ways) {
        timed_run(way, input, binding);
        way.times_us.clear();
    }
    double spent_us = 0;
    for (std::size_t round = 0; round < least_rounds || spent_us < seconds * 1e6; ++round)
        for (std::size_t turn = 0; turn < ways.size(); ++turn) {
            Way& way = ways[(round + turn) % ways.size()];
            way.times_us.push_back(timed_run(way, input, binding));
            spent_us += way.times_us.back();
        }
}

void run_row(std::vector<Way>& ways, const Tree& tree, const PlanSpec& spec,
             const std::string& codec, double seconds) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Executor::Options options;
    options.yield_always =
        static_cast<unsigned>(tree.rank_count()) > std::thread::hardware_concurrency();
    for (Way& way : ways)
        way.executor = checked(
            Executor::make(std::make_shared<const Plan>(checked(make_plan(tree, spec, rank))),
                           *way.channel, options));
    std::vector<float> input(static_cast<std::size_t>(spec.count_elems),
                             1.0F + static_cast<float>(rank));
    std::vector<float> output(input.size());
    Binding binding;
    binding.input = input.data();
    binding.output = output.data();
    binding.reducer = reducer_for(ReduceOp::sum, ElementType::f32);
    check_equal(ways, binding, output);
    run_in_turns(ways, input, binding, seconds);
    if (rank != 0) return;
    const double peer = bench::spread_of(ways[0].times_us).median;
    std::string line = fmt::format("{:>9} {:>6} {:>11.1f}", spec.count_elems * 4, codec, peer);
    for (std::size_t i = 1; i < ways.size(); ++i)
        line += fmt::format(" {:>9.2f}", peer / bench::spread_of(ways[i].times_us).median);
    fmt::print("{} {:>6}\n", line, ways[0].times_us.size());
    std::fflush(stdout);
}

void run_all(const Settings& settings) {
    int rank = 0, ranks = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::string text = "(0";
    for (int leaf = 1; leaf < ranks; ++leaf) text += fmt::format(" {}", leaf);
    const Tree tree = checked(tree_from_expression(text + ")", ranks));
    std::vector<Way> ways = all_ways();
    if (rank == 0)
        fmt::print(
            "# {} ranks, chunks of {} bytes; cells, reads: times faster than MPI\n{:>9} {:>6} "
            "{:>11} {:>9} {:>9} {:>6}\n",
            ranks, settings.chunk_bytes, "bytes", "codec", "mpi us", "cells", "reads", "runs");
    for (const std::string& name : settings.codecs)
        for (const std::int64_t size : settings.sizes_bytes)
            run_row(ways, tree, spec_of(tree, size, codec_named(name), settings.chunk_bytes), name,
                    settings.seconds);
    for (Way& way : ways) {
        way.executor.reset();
        way.channel.reset();
        PMPI_Comm_free(&way.comm);
    }
}

}  // namespace
}  // namespace gradcoll

namespace {

int body(int argc, char** argv) {
    gradcoll::Settings settings;
    gradcoll::OptionParser app(
        "The executor on a flat tree: MPI's messages against shared memory, in turns",
        "gc_bench lane");
    app.add_option("--sizes", settings.sizes_bytes, "bytes of the vector (float)")->delimiter(',');
    app.add_option("--codecs", settings.codecs, "codec names")->delimiter(',');
    app.add_option("--chunk", settings.chunk_bytes, "bytes of a chunk; 0: one");
    app.add_option("--seconds", settings.seconds, "of every row, about");
    MPI_Init(&argc, &argv);
    gradcoll::Ending line;
    app.parse_into(line, argc, argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!line.run && rank == 0) gradcoll::print(line);
    try {
        if (line.run) gradcoll::run_all(settings);
    } catch (const std::exception& error) {
        fmt::print(stderr, "gc_bench lane: {}\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return line.exit_status;
}

}  // namespace

int main(int argc, char** argv) {
    return gradcoll::guarded("gc_bench lane", body, argc, argv);
}
