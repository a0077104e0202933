// osu-bench/nic/main.cpp - compares GC_Allreduce with NIC agents and GC_Allreduce with nothing set.
// Half of each host's ranks are one job and half are the other, which sleep while it is not their
// turn. It prints times, CPU times of ranks and agents, and bytes on the wire.
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "command_line/option_parser.hpp"
#include "element.hpp"
#include "gradcoll/gradcoll.h"
#include "nic/control.hpp"
#include "nic/directory.hpp"
#include "summary.hpp"

namespace gradcoll {
namespace {

struct Settings {
    std::vector<std::int64_t> sizes_bytes = {4096, 65536, 256 << 10, 1 << 20, 16 << 20};
    std::vector<std::string> codecs = {"exact", "int8", "bound/abs=0.001"};
    std::string nic = "auto";
    std::string data = "uniform";
    std::string tolerance;
    std::string directory;
    bool overlaps = false;
    double seconds = 1;  ///< for every row, about
};

void check(int code, const char* what) {
    if (code != MPI_SUCCESS) throw std::runtime_error(std::string(what) + " failed");
}

int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

int size_of(MPI_Comm comm) {
    int size = 1;
    MPI_Comm_size(comm, &size);
    return size;
}

bool speaks() {
    return rank_in(MPI_COMM_WORLD) == 0;
}

double sum_of(MPI_Comm comm, double mine) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, comm);
    return mine;
}

double largest_of(MPI_Comm comm, double mine) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, comm);
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

/// Waits for all ranks of both jobs without taking a core from those that are at work.
void meet_asleep() {
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    for (int is_over = 0; is_over == 0;) {
        MPI_Test(&all, &is_over, MPI_STATUS_IGNORE);
        if (is_over == 0) usleep(500);
    }
}

enum Side : int { direct, agents };
constexpr Side sides[] = {direct, agents};

/// A Job is this rank's half: its side and the communicator of that. The two halves of a host have
/// as many ranks each.
struct Job {
    Side side = direct;
    MPI_Comm comm = MPI_COMM_NULL;
    int hosts = 0;
    bool is_first_of_host = false;  ///< among the ranks with agents
};

Job job_of(const Settings& settings) {
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    const int half = size_of(host) / 2;
    Job job;
    job.hosts = static_cast<int>(sum_of(MPI_COMM_WORLD, rank_in(host) == 0 ? 1 : 0));
    const bool fits = size_of(host) % 2 == 0 &&
                      largest_of(MPI_COMM_WORLD, size_of(host)) == size_of(host) && job.hosts > 1;
    if (largest_of(MPI_COMM_WORLD, fits ? 0 : 1) > 0)
        throw std::runtime_error(
            "needs two hosts or more, and an even number of ranks on each, the same on all: half "
            "of "
            "them run with agents (scripts/lab run --ppn 2)");
    job.side = rank_in(host) < half ? direct : agents;
    job.is_first_of_host = rank_in(host) == half;
    MPI_Comm_free(&host);
    if (job.side == direct)
        unsetenv("GC_NIC");
    else
        setenv("GC_NIC",
               (settings.nic + (settings.directory.empty() ? "" : ",dir=" + settings.directory))
                   .c_str(),
               1);
    MPI_Comm_split(MPI_COMM_WORLD, job.side, 0, &job.comm);
    return job;
}

/// Returns the CPU seconds of this host's agent; 0 on all ranks but one.
double agent_cpu_s(const Job& job, const Settings& settings) {
    if (!job.is_first_of_host) return 0;
    const auto text = status_of_nic_agent(nic_directory(settings.directory));
    return text.ok() ? nlohmann::json::parse(*text)["cpu_s"].get<double>() : 0;
}

/// Vectors are those of one row.
struct Vectors {
    Vectors(MPI_Comm comm, const std::string& data, std::size_t count) : in(count), out(count) {
        const auto bytes =
            bench::generate(data, *bench::find_element("float"), count, 1, rank_in(comm));
        std::memcpy(in.data(), bytes.data(), bytes.size());
    }
    int count() const { return static_cast<int>(in.size()); }
    std::vector<float> in, out;
};

/// Throws unless the result is the sum, as near as codecs leave it.
void check_sum(const Job& job, const Vectors& vectors, const std::string& codec) {
    std::vector<double> exact(vectors.in.begin(), vectors.in.end());
    MPI_Allreduce(MPI_IN_PLACE, exact.data(), vectors.count(), MPI_DOUBLE, MPI_SUM, job.comm);
    double error = 0, largest = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        error += std::abs(exact[i] - static_cast<double>(vectors.out[i]));
        largest = std::max(largest, std::abs(exact[i]));
    }
    const double allowed = codec == "exact" ? 1e-6 : 0.05;
    if (error > allowed * largest * static_cast<double>(exact.size()))
        throw std::runtime_error(codec + ": wrong sums");
}

/// Timed is what the runs of one side took, known to all ranks.
struct Timed {
    std::vector<double> times_us;  ///< of the slowest rank
    std::vector<double> cpu_us;    ///< all ranks together
};

/// Runs `work` on the ranks of one side while the others sleep. Returns the slowest rank's time and
/// adds the CPU times of all.
template <class Work>
void run_on(const Job& job, Side side, Timed& timed, Work work) {
    double time_us = 0, used_us = 0;
    if (job.side == side) {
        MPI_Barrier(job.comm);
        const double cpu_before = cpu_us();
        const auto begin = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double, std::micro> took =
            std::chrono::steady_clock::now() - begin;
        used_us = cpu_us() - cpu_before;
        time_us = took.count();
        MPI_Barrier(job.comm);
    }
    meet_asleep();
    timed.times_us.push_back(largest_of(MPI_COMM_WORLD, time_us));
    timed.cpu_us.push_back(sum_of(MPI_COMM_WORLD, used_us));
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

/// Computes like a program with an allreduce under way, which it tests after each slice.
void compute_beside(const Job& job, Vectors& vectors, Computation& computation,
                    std::int64_t rounds) {
    constexpr std::int64_t slices = 100;
    MPI_Request request = MPI_REQUEST_NULL;
    check(GC_Iallreduce(vectors.in.data(), vectors.out.data(), vectors.count(), MPI_FLOAT, MPI_SUM,
                        job.comm, &request),
          "GC_Iallreduce");
    for (std::int64_t slice = 0; slice < slices; ++slice) {
        computation.run(rounds / slices);
        int is_over = 0;
        MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// Prints how long a step takes that has a computation as long as an allreduce without agents, both
/// by turns, as a multiple of that.
void run_overlap(const Job& job, const Settings& settings, Vectors& vectors, double call_us) {
    Computation computation;
    const std::int64_t rounds = computation.rounds_for(call_us);
    Timed steps[2];
    for (double spent_us = 0; steps[0].times_us.size() < 8 || spent_us < settings.seconds * 1e6;)
        for (const Side side : sides) {
            run_on(job, side, steps[side],
                   [&] { compute_beside(job, vectors, computation, rounds); });
            spent_us += steps[side].times_us.back();
        }
    std::vector<double> gains;
    for (std::size_t i = 0; i < steps[0].times_us.size(); ++i)
        gains.push_back(steps[agents].times_us[i] / steps[direct].times_us[i]);
    if (!speaks()) return;
    const bench::Spread gain = bench::spread_of(gains);
    fmt::print(
        "#   step with as long a computation: {:.2f} of the computation directly, {:.2f} by "
        "agents; agents/directly {:.2f} ({:.2f} to {:.2f}); checksum {:.3f}\n",
        bench::spread_of(steps[direct].times_us).median / call_us,
        bench::spread_of(steps[agents].times_us).median / call_us, gain.median, gain.lower_quartile,
        gain.upper_quartile, computation.sum());
}

double mean_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

double bytes_sent_by(const Job& job, Side side) {
    GC_Stats stats{};
    check(GC_Comm_get_stats(job.comm, &stats), "GC_Comm_get_stats");
    return sum_of(MPI_COMM_WORLD, job.side == side ? static_cast<double>(stats.bytes_sent) : 0);
}

void run_row(const Job& job, const Settings& settings, const std::string& codec,
             std::int64_t size_bytes) {
    check(GC_Comm_set_codec(job.comm, codec.c_str()), "GC_Comm_set_codec");
    Vectors vectors(job.comm, settings.data, static_cast<std::size_t>(size_bytes) / sizeof(float));
    const auto call = [&] {
        check(GC_Allreduce(vectors.in.data(), vectors.out.data(), vectors.count(), MPI_FLOAT,
                           MPI_SUM, job.comm),
              "GC_Allreduce");
    };
    Timed timed[2], first;
    constexpr int warm_calls = 4;
    for (const Side side : sides)
        for (int i = 0; i < warm_calls; ++i) run_on(job, side, first, call);
    check_sum(job, vectors, codec);
    check(GC_Comm_reset_stats(job.comm), "GC_Comm_reset_stats");
    const double agents_before = sum_of(MPI_COMM_WORLD, agent_cpu_s(job, settings));
    constexpr std::size_t least_rounds = 8;
    for (double spent_us = 0;
         timed[0].times_us.size() < least_rounds || spent_us < settings.seconds * 1e6;)
        for (std::size_t turn = timed[0].times_us.size() % 2, i = 0; i < 2; ++i) {
            const Side side = sides[(turn + i) % 2];
            run_on(job, side, timed[side], call);
            spent_us += timed[side].times_us.back();
        }
    const auto runs = static_cast<double>(timed[0].times_us.size());
    const double agents_us =
        (sum_of(MPI_COMM_WORLD, agent_cpu_s(job, settings)) - agents_before) * 1e6 / runs;
    const double bytes[] = {bytes_sent_by(job, direct), bytes_sent_by(job, agents)};
    std::vector<double> speeds;
    for (std::size_t i = 0; i < timed[0].times_us.size(); ++i)
        speeds.push_back(timed[direct].times_us[i] / timed[agents].times_us[i]);
    const bench::Spread speed = bench::spread_of(speeds);
    const double direct_us = bench::spread_of(timed[direct].times_us).median;
    if (speaks()) {
        fmt::print(
            "{:>9} {:>16} {:>10.1f} {:>10.1f} {:>6.2f} {:>6.2f} {:>6.2f} {:>9.1f} {:>9.1f} "
            "{:>6.2f} {:>9.1f} {:>7.3f} {:>7.3f} {:>6}\n",
            size_bytes, codec, direct_us, bench::spread_of(timed[agents].times_us).median,
            speed.median, speed.lower_quartile, speed.upper_quartile, mean_of(timed[direct].cpu_us),
            mean_of(timed[agents].cpu_us),
            mean_of(timed[agents].cpu_us) / mean_of(timed[direct].cpu_us), agents_us,
            bytes[direct] > 0 ? bytes[agents] / bytes[direct] : 0, bytes[agents] / runs * 1e-6,
            timed[0].times_us.size());
        std::fflush(stdout);
    }
    if (settings.overlaps) run_overlap(job, settings, vectors, direct_us);
}

void run_all(const Settings& settings) {
    Job job = job_of(settings);
    check(GC_Comm_attach(job.comm), "GC_Comm_attach");
    if (!settings.tolerance.empty())
        check(GC_Comm_set_option(job.comm, "gc_tolerance", settings.tolerance.c_str()),
              "GC_Comm_set_option");
    if (speaks()) {
        fmt::print(
            "# {} ranks on {} hosts; GC_Allreduce with nothing set and with GC_NIC={}; medians; "
            "speed: direct / nic of each pair of runs, q1, q3: its quartiles; CPU us of all ranks, "
            "and of all agents, a call; bytes: sent by agents / directly; MB: by agents a call\n",
            size_of(job.comm), job.hosts, settings.nic);
        fmt::print(
            "{:>9} {:>16} {:>10} {:>10} {:>6} {:>6} {:>6} {:>9} {:>9} {:>6} {:>9} {:>7} {:>7} "
            "{:>6}\n",
            "bytes", "codec", "direct us", "nic us", "speed", "q1", "q3", "CPU dir.", "CPU nic",
            "ratio", "agents", "bytes", "MB", "runs");
    }
    for (const std::string& codec : settings.codecs)
        for (const std::int64_t size : settings.sizes_bytes) run_row(job, settings, codec, size);
    MPI_Comm_free(&job.comm);
}

int run_command_line(int argc, char** argv) {
    Settings settings;
    OptionParser app("GC_Allreduce with NIC agents and with nothing set, in turns.",
                     "gc_bench nic");
    app.add_option("--sizes", settings.sizes_bytes, "bytes of the vector (float)")->delimiter(',');
    app.add_option("--codecs", settings.codecs, "codec names")->delimiter(',');
    app.add_option("--data", settings.data, "values, as of gc_bench allreduce");
    app.add_option("--nic", settings.nic, "GC_NIC of the ranks with agents");
    app.add_option("--tolerance", settings.tolerance, "gc_tolerance of both, as abs=0.01");
    app.add_option("--directory", settings.directory, "folder of the agents' sockets");
    app.add_flag("--overlap", settings.overlaps,
                 "also steps of an allreduce and a computation that take equally long");
    app.add_option("--seconds", settings.seconds, "of every row, about");
    if (const auto status = app.exit_status(argc, argv)) return *status;
    run_all(settings);
    return 0;
}

}  // namespace
}  // namespace gradcoll

int main(int argc, char** argv) {
    // Nonblocking sums between hosts are the library's own only with this level of threads.
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
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
