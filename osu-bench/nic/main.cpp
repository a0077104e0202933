// osu-bench/nic/main.cpp - compares allreduces of plans, and messages there and back, by NIC
// agents and by the MPI library: in turns, in one run. It prints times, and the ranks' CPU times.
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "checked.hpp"
#include "collectives/build/planner.hpp"
#include "collectives/plan/plan.hpp"
#include "command_line/option_parser.hpp"
#include "nic/ask.hpp"
#include "nic/directory.hpp"
#include "nic/transport/nic_meeting.hpp"
#include "reduce/reducer.hpp"
#include "runtime/executor.hpp"
#include "summary.hpp"
#include "topology/text.hpp"
#include "transport/mpi/mpi_channel.hpp"
#include "transport/routed/routed_channel.hpp"
#include "transport/vector_sums.hpp"

namespace gradcoll {
namespace {

struct Settings {
    std::vector<std::int64_t> sizes_bytes = {4096, 65536, 1 << 20, 16 << 20};
    std::vector<std::string> codecs = {"exact", "int8", "bound/abs=0.001"};
    std::int64_t chunk_bytes = 1 << 20;
    int dealt_hosts = 0;  ///< 0: the hosts as they are
    std::string directory;
    std::size_t short_bytes = 0;  ///< messages below this size go directly
    bool overlaps = false;        ///< run a computation beside each allreduce
    bool adds = false;            ///< agents add whole vectors, instead of carrying out plans
    double seconds = 1;           ///< for every row, about
};

int rank_here() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int ranks_in_all() {
    int ranks = 1;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

double sum_of_all(double mine) {
    PMPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return mine;
}

double largest_of_all(double mine) {
    PMPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return mine;
}

/// Returns the CPU time of this process, in user and system mode.
double cpu_us() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto us = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
    };
    return us(used.ru_utime) + us(used.ru_stime);
}

NicPlacement placement_of(const Settings& settings) {
    NicPlacement placement;
    if (settings.dealt_hosts == 0) {
        placement = checked(nic_placement(MPI_COMM_WORLD));
    } else {
        for (int rank = 0; rank < ranks_in_all(); ++rank)
            placement.host_of_rank.push_back(
                static_cast<std::uint32_t>(rank * settings.dealt_hosts / ranks_in_all()));
    }
    if (placement.host_count() < 2)
        throw std::runtime_error("all ranks are on one host; --deal 2 deals them to two");
    const std::string folder = nic_directory(settings.directory);
    placement.directory =
        settings.dealt_hosts == 0
            ? folder
            : fmt::format("{}/host{}", folder,
                          placement.host_of_rank[static_cast<std::size_t>(rank_here())]);
    placement.starts_agent = true;
    return placement;
}

/// A Way is one way to exchange messages, with what its runs took.
struct Way {
    MPI_Comm comm = MPI_COMM_NULL;
    std::unique_ptr<Channel> channel;
    std::unique_ptr<Executor> executor;
    VectorSums* sums = nullptr;  ///< adds instead of the executor
    std::optional<Codec> codec;  ///< the codec of `sums`
    std::vector<double> times_us;
    std::vector<double> cpu_us;  ///< all ranks together
};

struct Ways {
    Ways(const NicPlacement& placement, std::size_t short_bytes, bool adds) {
        for (Way* way : {&direct, &nic}) {
            PMPI_Comm_dup(MPI_COMM_WORLD, &way->comm);
            PMPI_Comm_set_errhandler(way->comm, MPI_ERRORS_RETURN);
        }
        direct.channel = checked(MpiChannel::make(direct.comm));
        std::vector<gradcoll::PartialChannel> routes(2);
        routes[0] = {
            "nic", checked(make_nic_channel(nic.comm, placement, adds ? 1 : 0)), {}, short_bytes};
        routes[1] = {"mpi", checked(MpiChannel::make(nic.comm)), {}, 0};
        for (int peer = 0; peer < ranks_in_all(); ++peer) {
            routes[0].places.push_back(placement.are_together(rank_here(), peer) ? -1 : peer);
            routes[1].places.push_back(peer);
        }
        const int tags = routes[0].channel->tag_limit();
        nic.channel = std::make_unique<RoutedChannel>(nic.comm, std::move(routes), tags);
        nic.sums = nic.channel->vector_sums();
    }
    Way direct, nic;
};

/// Returns the CPU seconds of this host's agent.
double agent_cpu_s(const NicPlacement& placement) {
    if (!placement.is_first_of_host(static_cast<std::uint32_t>(rank_here()))) return 0;
    const auto text = status_of_nic_agent(placement.directory);
    return text.ok() ? nlohmann::json::parse(*text)["cpu_s"].get<double>() : 0;
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

Tree tree_of(const NicPlacement& placement) {
    std::vector<std::string> hosts(placement.host_count());
    for (std::size_t rank = 0; rank < placement.host_of_rank.size(); ++rank) {
        std::string& text = hosts[placement.host_of_rank[rank]];
        text += fmt::format("{}{}", text.empty() ? "" : " ", rank);
    }
    std::string all;
    for (const std::string& host : hosts)
        all += host.find(' ') == std::string::npos ? host + " " : "(" + host + ") ";
    all.back() = ')';
    return checked(tree_from_expression("(" + all, ranks_in_all()));
}

/// Runs once, and waits like a program that has nothing else to do, with more ranks and agents than
/// cores.
void run_once(Way& way, const Binding& binding) {
    if (way.sums == nullptr) return check(way.executor->run(binding));
    const auto count = static_cast<std::size_t>(way.executor->plan().spec.count_elems);
    const SumOutcome outcome =
        checked(way.sums->sum({.input = static_cast<const std::byte*>(binding.input),
                               .output = static_cast<std::byte*>(binding.output),
                               .count = count,
                               .codec = way.codec ? &*way.codec : nullptr}));
    if (outcome.done != count) throw std::runtime_error("agents have not added all");
}

/// Returns whether the sum of values up to 1 is as expected. Agents that add encode other sums than
/// a plan, so bits are not compared.
bool are_as_expected(const Way& way, const std::vector<float>& sum,
                     const std::vector<float>& expected) {
    if (way.sums == nullptr) return sum == expected;
    double error = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) error += std::abs(sum[i] - expected[i]);
    return error <= 0.05 * static_cast<double>(ranks_in_all() * sum.size());
}

/// Notes the slowest rank's time, and the CPU time of all.
void timed_run(Way& way, const Binding& binding) {
    PMPI_Barrier(MPI_COMM_WORLD);
    const double cpu_before = cpu_us();
    const auto begin = std::chrono::steady_clock::now();
    run_once(way, binding);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    const double cpu = cpu_us() - cpu_before;
    way.times_us.push_back(largest_of_all(took.count()));
    way.cpu_us.push_back(sum_of_all(cpu));
}

/// Computation is arithmetic that the compiler cannot remove.
class Computation {
  public:
    void run(std::int64_t rounds) {
        for (std::int64_t i = 0; i < rounds; ++i)
            for (double& value : values_) value = value * 0.999999 + 1e-6;
    }
    /// Returns the rounds that take about this long on a core of one's own.
    std::int64_t rounds_for(double us) {
        constexpr std::int64_t sample = 20'000;
        double least_us = 1e9;
        for (int i = 0; i < 20; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            run(sample);
            const std::chrono::duration<double, std::micro> took =
                std::chrono::steady_clock::now() - begin;
            least_us = std::min(least_us, took.count());
        }
        return static_cast<std::int64_t>(us / least_us * sample) + 1;
    }
    double sum() const { return values_[0] + values_[7]; }

  private:
    double values_[8] = {1, 2, 3, 4, 5, 6, 7, 8};
};

/// Computes like a program with an allreduce under way, which lets that make progress after each
/// slice.
void compute_beside(Way* way, const Binding& binding, Computation& computation, std::int64_t rounds,
                    std::int64_t slices) {
    if (way != nullptr) check(way->executor->start(binding));
    bool is_over = way == nullptr;
    for (std::int64_t slice = 0; slice < slices; ++slice) {
        computation.run(rounds / slices);
        for (bool goes_on = !is_over; goes_on;) {
            const Progress progress = checked(way->executor->advance());
            is_over = progress == Progress::complete;
            goes_on = progress == Progress::advanced;
        }
    }
    if (!is_over) check(way->executor->wait());
}

/// Runs a step of a computation and an allreduce that take equally long, and compares the time with
/// the longer of the two.
void run_overlap(Ways& ways, const Binding& binding, const std::string& codec,
                 std::int64_t size_bytes, double seconds) {
    constexpr double slice_us = 50;
    Computation computation;
    const auto timed = [](auto work) {
        PMPI_Barrier(MPI_COMM_WORLD);
        const auto begin = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double, std::micro> took =
            std::chrono::steady_clock::now() - begin;
        return largest_of_all(took.count());
    };
    for (Way* way : {&ways.direct, &ways.nic}) {
        const double call_us = bench::spread_of(way->times_us).median;
        const std::int64_t rounds = computation.rounds_for(call_us);
        const auto slices = static_cast<std::int64_t>(call_us / slice_us) + 1;
        std::vector<double> steps_us, compute_us, shares;
        for (double spent_us = 0; steps_us.size() < 8 || spent_us < seconds * 1e6;) {
            compute_us.push_back(
                timed([&] { compute_beside(nullptr, binding, computation, rounds, slices); }));
            steps_us.push_back(
                timed([&] { compute_beside(way, binding, computation, rounds, slices); }));
            shares.push_back(steps_us.back() / std::max(compute_us.back(), call_us));
            spent_us += compute_us.back() + steps_us.back();
        }
        const bench::Spread share = bench::spread_of(shares);
        if (rank_here() == 0)
            fmt::print(
                "# {} bytes, {}, {}: compute {:.1f} us, allreduce {:.1f}, both {:.1f}: {:.2f} "
                "({:.2f} to {:.2f}) of the longer (checksum {:.3f})\n",
                size_bytes, codec, way == &ways.nic ? "by agents" : "directly",
                bench::spread_of(compute_us).median, call_us, bench::spread_of(steps_us).median,
                share.median, share.lower_quartile, share.upper_quartile, computation.sum());
    }
}

double mean_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

/// Returns values as a part of a run: they differ by more than a codec keeps.
std::vector<float> input_of(std::size_t count) {
    std::vector<float> input(count);
    std::uint32_t state = 12345U + static_cast<std::uint32_t>(rank_here());
    for (float& value : input) {
        state = state * 1664525U + 1013904223U;
        value = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31F;
    }
    return input;
}

void run_row(Ways& ways, const NicPlacement& placement, const Settings& settings,
             const std::string& codec, std::int64_t size_bytes) {
    const Tree tree = tree_of(placement);
    const CodecId id = checked(codec_from_name(codec));
    check(check_told(id));
    const PlanSpec spec = spec_of(tree, size_bytes, id, settings.chunk_bytes);
    for (Way* way : {&ways.direct, &ways.nic}) {
        way->executor = checked(Executor::make(
            std::make_shared<const Plan>(checked(make_plan(tree, spec, rank_here()))),
            *way->channel, {.yield_always = true}));
        way->times_us.clear();
        way->cpu_us.clear();
    }
    ways.nic.codec.reset();
    if (id != CodecId::exact) ways.nic.codec = checked(codec_for(id, ElementType::f32));
    const std::vector<float> input = input_of(static_cast<std::size_t>(spec.count_elems));
    std::vector<float> direct_output(input.size()), output(input.size());
    Binding binding;
    binding.input = input.data();
    binding.reducer = reducer_for(ReduceOp::sum, ElementType::f32);
    binding.output = direct_output.data();
    run_once(ways.direct, binding);
    binding.output = output.data();
    run_once(ways.nic, binding);
    if (!are_as_expected(ways.nic, output, direct_output))
        throw std::runtime_error(codec + ": other sums by agents");
    const double agents_before = sum_of_all(agent_cpu_s(placement));
    constexpr std::size_t least_rounds = 8;
    double spent_us = 0;
    while (ways.nic.times_us.size() < least_rounds || spent_us < settings.seconds * 1e6) {
        const bool nic_first = ways.nic.times_us.size() % 2 != 0;
        timed_run(nic_first ? ways.nic : ways.direct, binding);
        timed_run(nic_first ? ways.direct : ways.nic, binding);
        spent_us += ways.nic.times_us.back() + ways.direct.times_us.back();
    }
    const auto runs = static_cast<double>(ways.nic.times_us.size());
    const double agents_us = (sum_of_all(agent_cpu_s(placement)) - agents_before) * 1e6 / runs;
    if (settings.overlaps) run_overlap(ways, binding, codec, size_bytes, settings.seconds);
    if (rank_here() != 0) return;
    std::vector<double> speeds;
    for (std::size_t i = 0; i < ways.nic.times_us.size(); ++i)
        speeds.push_back(ways.direct.times_us[i] / ways.nic.times_us[i]);
    const bench::Spread speed = bench::spread_of(speeds);
    fmt::print(
        "{:>9} {:>16} {:>10.1f} {:>10.1f} {:>6.2f} {:>6.2f} {:>6.2f} {:>9.1f} {:>9.1f} {:>7.2f} "
        "{:>9.1f} {:>6}\n",
        size_bytes, codec, bench::spread_of(ways.direct.times_us).median,
        bench::spread_of(ways.nic.times_us).median, speed.median, speed.lower_quartile,
        speed.upper_quartile, mean_of(ways.direct.cpu_us), mean_of(ways.nic.cpu_us),
        mean_of(ways.nic.cpu_us) / mean_of(ways.direct.cpu_us), agents_us,
        ways.nic.times_us.size());
    std::fflush(stdout);
}

/// A Player is one end of messages there and back: it waits for the answer, not for its own sends.
class Player {
  public:
    Player(Channel& channel, int other, std::size_t size_bytes)
        : lane_(size_bytes < channel.short_bytes() ? channel.open_short_lane(4)
                                                   : channel.open_lane(4)),
          other_(other),
          data_(2, std::vector<std::byte>(size_bytes)) {}
    void send() {
        wait_until([&] { return !sends_; });
        check(lane_->start_send(other_, 1, data_[0].data(), data_[0].size(), 0));
        sends_ = true;
    }
    void receive() {
        check(lane_->start_recv(other_, 1, data_[1].data(), data_[1].size(), 1));
        receives_ = true;
        wait_until([&] { return !receives_; });
    }
    void finish() {
        wait_until([&] { return !sends_; });
    }

  private:
    template <class Done>
    void wait_until(Done done) {
        while (!done()) {
            Completion ended;
            if (checked(lane_->poll({&ended, 1})) == 0) {
                if (++idle_ < 20 || !lane_->rest(std::chrono::microseconds(200))) sched_yield();
                continue;
            }
            idle_ = 0;
            check(ended.status);
            (ended.cookie == 0 ? sends_ : receives_) = false;
        }
    }
    std::unique_ptr<Lane> lane_;
    int other_;
    std::vector<std::vector<std::byte>> data_;
    bool sends_ = false, receives_ = false;
    int idle_ = 0;
};

/// Times messages between rank 0 and the first rank of another host.
void run_there_and_back(Ways& ways, const NicPlacement& placement, std::size_t size_bytes) {
    int peer = 0;
    while (placement.are_together(0, peer)) ++peer;
    constexpr int turns = 400, batch = 20;
    std::vector<double> times[2];
    for (int turn = 0; turn < turns; ++turn) {
        Way& way = turn % 2 == 0 ? ways.direct : ways.nic;
        PMPI_Barrier(MPI_COMM_WORLD);
        if (rank_here() != 0 && rank_here() != peer) continue;
        Player player(*way.channel, rank_here() == 0 ? peer : 0, size_bytes);
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < batch; ++i) {
            if (rank_here() == 0) player.send();
            player.receive();
            if (rank_here() != 0) player.send();
        }
        const std::chrono::duration<double, std::micro> took =
            std::chrono::steady_clock::now() - begin;
        player.finish();
        if (turn >= turns / 10) times[turn % 2].push_back(took.count() / (2 * batch));
    }
    if (rank_here() != 0) return;
    const auto direct = bench::spread_of(times[0]), nic = bench::spread_of(times[1]);
    fmt::print(
        "# {} bytes one way: {:.1f} us ({:.1f} to {:.1f}) directly, {:.1f} ({:.1f} to {:.1f}) by "
        "agents: {:+.1f}\n",
        size_bytes, direct.median, direct.lower_quartile, direct.upper_quartile, nic.median,
        nic.lower_quartile, nic.upper_quartile, nic.median - direct.median);
}

void run_all(const Settings& settings) {
    const NicPlacement placement = placement_of(settings);
    Ways ways(placement, settings.short_bytes, settings.adds);
    if (rank_here() == 0)
        fmt::print(
            "# {} ranks on {} hosts, chunks of {} bytes; medians; speed: direct / nic of each "
            "pair of runs, q1, q3: its quartiles; CPU us of all ranks, and of all agents, a run\n",
            ranks_in_all(), placement.host_count(), settings.chunk_bytes);
    run_there_and_back(ways, placement, 4096);
    if (rank_here() == 0)
        fmt::print("{:>9} {:>16} {:>10} {:>10} {:>6} {:>6} {:>6} {:>9} {:>9} {:>7} {:>9} {:>6}\n",
                   "bytes", "codec", "direct us", "nic us", "speed", "q1", "q3", "CPU dir.",
                   "CPU nic", "ratio", "agents", "runs");
    for (const std::string& codec : settings.codecs)
        for (const std::int64_t size : settings.sizes_bytes)
            run_row(ways, placement, settings, codec, size);
    for (Way* way : {&ways.direct, &ways.nic}) {
        way->executor.reset();
        way->channel.reset();
        PMPI_Comm_free(&way->comm);
    }
}

int run_command_line(int argc, char** argv) {
    Settings settings;
    OptionParser app("Plans over NIC agents and over MPI's messages, in turns.", "gc_bench nic");
    app.add_option("--sizes", settings.sizes_bytes, "bytes of the vector (float)")->delimiter(',');
    app.add_option("--codecs", settings.codecs, "codec names")->delimiter(',');
    app.add_option("--chunk", settings.chunk_bytes, "bytes of a chunk; 0: one");
    app.add_option("--deal", settings.dealt_hosts,
                   "so many hosts, made up, with an agent each on this machine; 0: as it is");
    app.add_option("--directory", settings.directory, "folder of agents' sockets");
    app.add_option("--short", settings.short_bytes,
                   "bytes: plans with shorter messages go directly, as they do by default of the "
                   "library; 0: none");
    OptionParser::Option* const overlaps =
        app.add_flag("--overlap", settings.overlaps,
                     "also steps of a computation and an allreduce that take equally long");
    app.add_flag("--sum", settings.adds, "agents add whole vectors (GC_NIC=on+sum)")
        ->excludes(overlaps);
    app.add_option("--seconds", settings.seconds, "of every row, about");
    if (const auto status = app.exit_status(argc, argv)) return *status;
    run_all(settings);
    return 0;
}

}  // namespace
}  // namespace gradcoll

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int code = 0;
    try {
        code = gradcoll::run_command_line(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "gc_bench nic: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return code;
}
