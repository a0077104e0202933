// gc_bench engine - the gradients of one training step, handed to an engine as the backward pass
// makes them, beside three blocking ways: GC_Allreduce one after another in the same order,
// MPI_Allreduce likewise, and one GC_Allreduce of all in one buffer. By turns in one run; medians
// and quartiles.

#include <fmt/format.h>
#include <gradcoll.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "command_line/option_parser.hpp"
#include "models.hpp"
#include "sizes.hpp"
#include "summary.hpp"

namespace {

struct Options {
    std::string model = "resnet50";
    std::size_t divide = 1;
    std::string codec = "exact";
    std::string strategy = "tree";
    std::string threads = "auto";
    std::vector<std::string> settings;  ///< KEY=VALUE
    double wire_gbits = 0;              ///< 0: not given
    double backward_ms = 0;
    std::vector<std::string> ways;  ///< empty: all
    int repeats = 5;
    int warmup = 1;

    bool has(const std::string& way) const {
        return ways.empty() || std::find(ways.begin(), ways.end(), way) != ways.end();
    }
};

constexpr const char* way_names[] = {"engine", "one-by-one", "buffer", "mpi"};

gradcoll::CommandLine<Options> parse(int argc, const char* const* argv) {
    gradcoll::CommandLine<Options> line;
    Options& options = line.options;
    gradcoll::OptionParser app{
        "Times a training step's sums through an engine beside blocking calls", "gc_bench engine"};
    app.add_option("--model", options.model,
                   "whose gradients: resnet50, bert-base, or COUNTxELEMENTS for equal ones")
        ->check([](const std::string& text) {
            return parameters_of(text).empty()
                       ? "expected resnet50, bert-base or COUNTxELEMENTS, "
                         "with at most 65536 gradients of 1 to 2^28 elements"
                       : std::string();
        })
        ->capture_default_str();
    app.add_option("--divide", options.divide, "every gradient's elements by this, rounded up")
        ->in_range(std::size_t{1}, std::size_t{1} << 20)
        ->capture_default_str();
    app.add_option("--codec", options.codec, "as GC_CODEC, for all but MPI_Allreduce")
        ->capture_default_str();
    app.add_option("--strategy", options.strategy, "as GC_ENGINE")->capture_default_str();
    app.add_option("--threads", options.threads, "as GC_ENGINE=threads")->capture_default_str();
    app.add_option("--option", options.settings,
                   "KEY=VALUE, a gc_* setting of the engine; repeatable")
        ->check([](const std::string& text) {
            return gradcoll::bench::parse_setting(text) ? std::string() : "expected KEY=VALUE";
        });
    app.add_option(
           "--wire-gbits", options.wire_gbits,
           "rate of a rank's link in Gbit/s: prints how long its bytes take there; one rank a "
           "host")
        ->not_negative();
    app.add_option("--backward-ms", options.backward_ms,
                   "time of the backward pass, in which the host sleeps; a gradient's part follows "
                   "its size")
        ->not_negative()
        ->capture_default_str();
    app.add_option("--way", options.ways,
                   "engine, one-by-one, buffer or mpi: leave out all others; repeatable")
        ->check([](const std::string& text) {
            return std::count(std::begin(way_names), std::end(way_names), text) > 0
                       ? std::string()
                       : "expected engine, one-by-one, buffer or mpi";
        });
    app.add_option("--repeats", options.repeats, "turns")->in_range(1, 1000)->capture_default_str();
    app.add_option("--warmup", options.warmup, "turns that are not counted")
        ->in_range(0, 1000)
        ->capture_default_str();
    app.parse_into(line, argc, argv);
    return line;
}

/// Ends the job if a call of this program returned an error; all calls return codes.
void expect(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    char text[GC_MAX_ERROR_STRING] = "";
    GC_Error_string(code, text, nullptr);
    fmt::print(stderr, "gc_bench engine: {}: {}\n", call, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Refuses a wire rate if ranks share a host: what moves inside a host counts as sent, too, and is
/// not on its link.
void refuse_wire_of_shared_hosts(const Options& options, int rank) {
    if (options.wire_gbits <= 0) return;
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    int ranks = 1;
    MPI_Comm_size(host, &ranks);
    MPI_Comm_free(&host);
    MPI_Allreduce(MPI_IN_PLACE, &ranks, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (ranks == 1) return;
    if (rank == 0)
        fmt::print(
            stderr,
            "gc_bench engine: --wire-gbits with {} ranks on one host: the bytes that an engine "
            "counts as sent are of messages and memory inside the host, too; allowed: one "
            "rank a host\n",
            ranks);
    MPI_Finalize();
    std::exit(2);
}

void sleep_ms(double ms) {
    if (ms <= 0) return;
    const auto ns = static_cast<long long>(ms * 1e6);
    const timespec time{static_cast<time_t>(ns / 1'000'000'000),
                        static_cast<long>(ns % 1'000'000'000)};
    nanosleep(&time, nullptr);
}

/// A Step is one rank's gradients, one behind the other in the order of the backward pass.
class Step {
  public:
    Step(const Options& options, int rank) : options_(options) {
        parameters_ = parameters_of(options.model);
        std::reverse(parameters_.begin(), parameters_.end());
        for (Parameter& parameter : parameters_) {
            parameter.count = (parameter.count + options.divide - 1) / options.divide;
            first_.push_back(elements_);
            elements_ += parameter.count;
        }
        input_.resize(elements_);
        for (std::size_t i = 0; i < elements_; ++i)
            input_[i] =
                1e-3F * static_cast<float>(
                            static_cast<int>((i * 2654435761U + static_cast<unsigned>(rank) * 97U) %
                                             2001U) -
                            1000);
        output_.resize(elements_);
        handles_.resize(parameters_.size());
    }

    std::size_t elements() const { return elements_; }
    std::size_t tensors() const { return parameters_.size(); }
    const std::vector<float>& output() const { return output_; }

    void by_engine(GC_Engine engine) {
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            compute(i);
            expect(GC_Submit(engine, parameters_[i].name.c_str(), input_.data() + first_[i],
                             output_.data() + first_[i], count(i), MPI_FLOAT, MPI_SUM,
                             static_cast<int>(i), &handles_[i]),
                   "GC_Submit");
        }
        expect(GC_Handle_waitall(static_cast<int>(handles_.size()), handles_.data()),
               "GC_Handle_waitall");
    }
    void one_by_one(MPI_Comm comm) {
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            compute(i);
            expect(GC_Allreduce(input_.data() + first_[i], output_.data() + first_[i],
                                static_cast<int>(count(i)), MPI_FLOAT, MPI_SUM, comm),
                   "GC_Allreduce");
        }
    }
    void by_mpi(MPI_Comm comm) {
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            compute(i);
            expect(MPI_Allreduce(input_.data() + first_[i], output_.data() + first_[i],
                                 static_cast<int>(count(i)), MPI_FLOAT, MPI_SUM, comm),
                   "MPI_Allreduce");
        }
    }
    void fused(MPI_Comm comm) {
        for (std::size_t i = 0; i < parameters_.size(); ++i) compute(i);
        expect(GC_Allreduce(input_.data(), output_.data(), static_cast<int>(elements_), MPI_FLOAT,
                            MPI_SUM, comm),
               "GC_Allreduce");
    }

  private:
    MPI_Count count(std::size_t i) const { return static_cast<MPI_Count>(parameters_[i].count); }
    void compute(std::size_t i) const {
        sleep_ms(options_.backward_ms * static_cast<double>(parameters_[i].count) /
                 static_cast<double>(elements_));
    }

    const Options& options_;
    std::vector<Parameter> parameters_;
    std::vector<std::size_t> first_;
    std::size_t elements_ = 0;
    std::vector<float> input_;
    std::vector<float> output_;
    std::vector<GC_Handle> handles_;
};

/// A Work is what this process has used of its cores.
struct Work {
    double ms = 0;        ///< time of all threads, in the kernel, too
    double switches = 0;  ///< how often a thread gave its core away, or lost it
};

Work work_so_far() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto ms = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
    };
    return {ms(used.ru_utime) + ms(used.ru_stime),
            static_cast<double>(used.ru_nvcsw + used.ru_nivcsw)};
}

/// Costs are those of one way, in the turns that count.
struct Costs {
    std::vector<double> ms;  ///< time until the last rank has ended
    Work work;               ///< sum of all turns and ranks
};

template <class Way>
void measure(Costs& costs, bool counts, Way&& way) {
    // Threads of the engine may still be awake after its turn, which would cost the next way. After
    // a longer sleep than this cores take a while to come up to speed, which costs any way.
    sleep_ms(2);
    MPI_Barrier(MPI_COMM_WORLD);
    const Work before = work_so_far();
    const double begin = MPI_Wtime();
    way();
    double ms = (MPI_Wtime() - begin) * 1e3;
    const Work after = work_so_far();
    double work[] = {after.ms - before.ms, after.switches - before.switches};
    MPI_Allreduce(MPI_IN_PLACE, &ms, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, work, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (!counts) return;
    costs.ms.push_back(ms);
    costs.work.ms += work[0];
    costs.work.switches += work[1];
}

/// Checks that every rank has the same bits (by a hash, so that no step follows a long message),
/// and with exact codecs nearly those of MPI.
void check_results(const Step& step, const std::vector<float>& by_mpi, bool exact) {
    const auto* bytes = reinterpret_cast<const char*>(step.output().data());
    const std::uint64_t hash = std::hash<std::string_view>{}({bytes, step.output().size() * 4});
    std::uint64_t extremes[] = {hash, ~hash};
    MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    bool good = extremes[0] == ~extremes[1];
    for (std::size_t i = 0; exact && i < by_mpi.size(); ++i)
        good = good && std::abs(by_mpi[i] - step.output()[i]) <= 1e-4F;
    if (good) return;
    fmt::print(stderr, "gc_bench engine: results differ\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Prints a line for each way that was measured. Returns the engine's time; 0 if it was not.
double print_costs(const Costs (&ways)[4], double turns_of_ranks) {
    const char* names[] = {"engine", "GC_Allreduce one by one", "GC_Allreduce of one buffer",
                           "MPI_Allreduce one by one"};
    const double ours = ways[0].ms.empty() ? 0 : gradcoll::bench::spread_of(ways[0].ms).median;
    for (int way = 0; way < 4; ++way) {
        if (ways[way].ms.empty()) continue;
        const gradcoll::bench::Spread spread = gradcoll::bench::spread_of(ways[way].ms);
        fmt::print("{:28} {:9.2f} ms ({:.2f} to {:.2f})   ", names[way], spread.median,
                   spread.lower_quartile, spread.upper_quartile);
        if (ours > 0) fmt::print("{:.2f} times the engine's; ", spread.median / ours);
        fmt::print("a rank's cores {:.2f} ms, {:.0f} switches\n",
                   ways[way].work.ms / turns_of_ranks, ways[way].work.switches / turns_of_ranks);
    }
    return ours;
}

double bytes_a_step(GC_Engine engine, int turns) {
    GC_Stats stats;
    expect(GC_Engine_get_stats(engine, &stats), "GC_Engine_get_stats");
    double bytes = static_cast<double>(stats.bytes_sent) / turns;
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return bytes;
}

}  // namespace

namespace {

int body(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const auto line = parse(argc, argv);
    if (!line.run) {
        if (rank == 0) print(line);
        MPI_Finalize();
        return line.exit_status;
    }
    const Options& options = line.options;
    refuse_wire_of_shared_hosts(options, rank);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    expect(GC_Comm_set_option(comm, "gc_codec", options.codec.c_str()), "GC_Comm_set_option");
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "gc_codec", options.codec.c_str());
    std::string engine_value = options.strategy + ",threads=" + options.threads;
    for (const std::string& setting : options.settings) {
        const auto parsed = gradcoll::bench::parse_setting(setting);
        if (parsed->first == "gc_engine")
            engine_value += "," + parsed->second;
        else
            MPI_Info_set(info, parsed->first.c_str(), parsed->second.c_str());
    }
    MPI_Info_set(info, "gc_engine", engine_value.c_str());
    GC_Engine engine = GC_ENGINE_NULL;
    expect(GC_Engine_create(comm, info, &engine), "GC_Engine_create");
    MPI_Info_free(&info);

    Step step(options, rank);
    Costs ways[4];
    auto& [by_engine, one_by_one, of_one_buffer, by_mpi_alone] = ways;
    for (int turn = 0; turn < options.warmup + options.repeats; ++turn) {
        const bool counts = turn >= options.warmup;
        std::vector<float> by_mpi;
        if (options.has("mpi")) {
            measure(by_mpi_alone, counts, [&] { step.by_mpi(comm); });
            by_mpi = step.output();
        }
        if (options.has("engine")) {
            measure(by_engine, counts, [&] { step.by_engine(engine); });
            check_results(step, by_mpi, options.codec == "exact");
        }
        if (options.has("one-by-one")) measure(one_by_one, counts, [&] { step.one_by_one(comm); });
        if (options.has("buffer")) measure(of_one_buffer, counts, [&] { step.fused(comm); });
    }
    const double sent = bytes_a_step(engine, options.warmup + options.repeats);
    expect(GC_Engine_free(&engine), "GC_Engine_free");
    if (rank == 0) {
        fmt::print("{}: {} tensors, {:.1f} MiB, {} ranks, codec {}, strategy {}, backward {} ms\n",
                   options.model, step.tensors(),
                   static_cast<double>(step.elements()) * 4 / (1 << 20), ranks, options.codec,
                   options.strategy, options.backward_ms);
        const double ours = print_costs(ways, options.repeats * static_cast<double>(ranks));
        fmt::print("{:28} {:9.2f} MiB a step, by the rank that sends most\n", "the engine sends",
                   sent / (1 << 20));
        if (options.wire_gbits > 0 && ours > 0) {
            const double wire_ms = sent * 8 / (options.wire_gbits * 1e6);
            fmt::print("{:28} {:9.2f} ms   {:.2f} times the engine's\n", "its link takes for that",
                       wire_ms, wire_ms / ours);
        }
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return gradcoll::guarded("gc_bench engine", body, argc, argv);
}
