// gc_bench regret - compares what the library chooses for an allreduce with the other ways that it
// has, in turns on one communicator's ranks. Regret is the time of the choice over that of the best
// way.
//
// Every way is timed once against the choice; the most promising are timed again, and the choice is
// measured afresh against the best of these: a way that wins by chance among many does not win
// there, so noise alone gives a regret of 1. Exit status: 0; 1 if a call failed; 2 for a bad
// option.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_line/option_parser.hpp"
#include "csv.hpp"
#include "element.hpp"
#include "sizes.hpp"
#include "summary.hpp"
#include "timing.hpp"
#include "variant.hpp"

namespace gradcoll::bench {
namespace {

constexpr const char* chosen_name = "chosen";
constexpr const char* mpi_name = "mpi";

struct Plan {
    std::vector<std::size_t> sizes_bytes;
    std::vector<std::pair<std::string, std::string>> common;
    std::vector<Variant> variants;
    int finalists = 3;
    int repeats = 5;
    double batch_s = 0.01;
    std::string csv_path;
};

Problem read_plan(const std::string& sizes, const std::vector<std::string>& common,
                  const std::vector<std::string>& variants, Plan& plan) {
    const auto sizes_bytes = parse_sizes(sizes, sizeof(float));
    if (!sizes_bytes)
        return fmt::format(
            "--message-size {}: must be min:max with min <= max, max, or a list, in bytes with K, "
            "M or G",
            sizes);
    plan.sizes_bytes = *sizes_bytes;
    for (const std::string& text : common) {
        const auto read = variant_from("-;" + text);
        if (!read) return fmt::format("--option {}: must be KEY=VALUE", text);
        plan.common.push_back(read->settings.front());
    }
    for (const std::string& text : variants) {
        auto read = variant_from(text);
        if (!read) return fmt::format("--variant {}: must be NAME;KEY=VALUE;...", text);
        read->by_mpi = read->name == mpi_name;
        plan.variants.push_back(std::move(*read));
    }
    return {};
}

gradcoll::CommandLine<Plan> parse(int argc, const char* const* argv) {
    OptionParser app("What GC_Allreduce chooses, beside the other ways that it has",
                     "gc_bench regret");
    gradcoll::CommandLine<Plan> line;
    std::string sizes = "4:4M";
    std::vector<std::string> common;
    std::vector<std::string> variants;
    app.add_option("-m,--message-size", sizes,
                   "bytes, with K, M, G: min:max (doubling), max, or a list a,b,c")
        ->capture_default_str();
    app.add_option("--option", common, "KEY=VALUE, a gc_* setting of all ways; repeatable")
        ->allow_extra_args(false);
    app.add_option("--variant", variants,
                   "NAME;KEY=VALUE;..., a way and its settings, or mpi for MPI_Allreduce itself; "
                   "repeatable")
        ->allow_extra_args(false)
        ->required();
    app.add_option("--finalists", line.options.finalists, "ways that are timed a second time")
        ->in_range(1, 1000)
        ->capture_default_str();
    app.add_option("--repeats", line.options.repeats,
                   "comparisons of the best one with what is chosen; medians are printed")
        ->in_range(1, 1000000)
        ->capture_default_str();
    app.add_option("--batch-seconds", line.options.batch_s,
                   "about how long one of them calls before the other's turn")
        ->positive()
        ->capture_default_str();
    app.add_option("--csv", line.options.csv_path, "append a row a size to this file");
    app.parse_into(line, argc, argv,
                   [&] { return read_plan(sizes, common, variants, line.options); });
    return line;
}

/// A Measurement owns the vectors of one size.
class Measurement {
  public:
    Measurement(const Plan& plan, const float* input, float* output, std::size_t size_bytes)
        : plan_(plan),
          input_(input),
          output_(output),
          count_(static_cast<int>(size_bytes / sizeof(float))) {}

    Timed timed(const Way& way) const {
        return {{}, [this, &way] { call(way); }};
    }

    /// Times the chosen way and another, which alternate for this many batches each.
    Pair compare(const Way& chosen, const Way& other, int batches, bool other_first) const {
        const int batch = calls_a_batch(chosen);
        return time_in_turns(timed(chosen), timed(other),
                             {1, batches * batch, batch, Sync::none, other_first}, MPI_COMM_WORLD);
    }

  private:
    void call(const Way& way) const {
        if (way.run(input_, output_, count_) == MPI_SUCCESS) return;
        fmt::print(stderr, "gc_bench regret: {} failed with {} floats\n", way.name(), count_);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }

    int calls_a_batch(const Way& way) const {
        call(way);
        const double start = MPI_Wtime();
        call(way);
        double seconds = MPI_Wtime() - start;
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return static_cast<int>(std::clamp(std::ceil(plan_.batch_s / seconds), 1.0, 1000.0));
    }

    const Plan& plan_;
    const float* input_;
    float* output_;
    int count_;
};

struct Found {
    const Way* best = nullptr;
    double chosen_us = 0;
    double best_us = 0;
    Spread regret;
};

Found find_best(const Plan& plan, const Measurement& measurement, const Way& chosen,
                const std::vector<std::unique_ptr<Way>>& others) {
    struct Candidate {
        const Way* way;
        double time;  ///< relative to the chosen way's time
    };
    std::vector<Candidate> candidates;
    for (const auto& way : others)
        candidates.push_back({way.get(), measurement.compare(chosen, *way, 1, false).ratio()});
    const auto by_time = [](const Candidate& a, const Candidate& b) { return a.time < b.time; };
    std::sort(candidates.begin(), candidates.end(), by_time);
    candidates.resize(std::min(candidates.size(), static_cast<std::size_t>(plan.finalists)));
    for (Candidate& one : candidates)
        one.time = measurement.compare(chosen, *one.way, 3, true).ratio();
    std::sort(candidates.begin(), candidates.end(), by_time);
    std::vector<double> regrets;
    std::vector<Latency> ours;
    std::vector<Latency> theirs;
    const Way* best = candidates.front().way;
    for (int i = 0; i < plan.repeats; ++i) {
        const Pair pair = measurement.compare(chosen, *best, 2, i % 2 == 1);
        regrets.push_back(1 / pair.ratio());
        ours.push_back(pair.ours);
        theirs.push_back(pair.peer);
    }
    return {best, median(ours).avg_us, median(theirs).avg_us, spread_of(regrets)};
}

int my_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

void tell(CsvWriter& csv, const Plan& plan, std::size_t size_bytes, const Found& found) {
    if (my_rank() != 0) return;
    // A way that loses against the choice is no better one.
    const double regret = std::max(found.regret.median, 1.0);
    fmt::print("{:>10} {:>12.2f} {:>12.2f} {:>7.2f} {:>6.2f} {:>6.2f}  {}\n", size_bytes,
               found.chosen_us, found.best_us, regret, found.regret.lower_quartile,
               found.regret.upper_quartile, found.best->name());
    std::fflush(stdout);
    if (plan.csv_path.empty()) return;
    csv.write({{"size_bytes", static_cast<std::int64_t>(size_bytes)},
               {"chosen_us", found.chosen_us},
               {"best_us", found.best_us},
               {"regret", regret},
               {"regret_q1", found.regret.lower_quartile},
               {"regret_q3", found.regret.upper_quartile},
               {"best", found.best->name()}});
}

std::vector<std::unique_ptr<Way>> ways_of(const Plan& plan) {
    std::vector<std::unique_ptr<Way>> ways;
    for (const Variant& variant : plan.variants) {
        auto way = std::make_unique<Way>(variant, plan.common);
        if (way->refusal().empty())
            ways.push_back(std::move(way));
        else if (my_rank() == 0)
            fmt::print("# {} is left out: {}\n", way->name(), way->refusal());
    }
    if (ways.empty()) throw std::invalid_argument("--variant: the library refuses all of them");
    return ways;
}

int measure(const Plan& plan) {
    const Way chosen({chosen_name, false, {}}, plan.common);
    if (!chosen.refusal().empty()) throw std::invalid_argument("--option: " + chosen.refusal());
    const auto others = ways_of(plan);
    const std::size_t count = plan.sizes_bytes.back() / sizeof(float);
    const std::vector<std::byte> data =
        generate("gradient", *find_element("float"), count, 1, my_rank());
    std::vector<float> input(count);
    std::memcpy(input.data(), data.data(), count * sizeof(float));
    std::vector<float> output(count);
    CsvWriter csv(plan.csv_path);
    if (my_rank() == 0)
        fmt::print("# {:>8} {:>12} {:>12} {:>7} {:>6} {:>6}  {}\n", "Size", "Chosen(us)",
                   "Best(us)", "regret", "q1", "q3", "best");
    for (const std::size_t size_bytes : plan.sizes_bytes) {
        const Measurement measurement(plan, input.data(), output.data(), size_bytes);
        tell(csv, plan, size_bytes, find_best(plan, measurement, chosen, others));
    }
    return 0;
}

int run(int argc, char** argv) {
    const auto line = parse(argc, argv);
    if (!line.run) {
        if (my_rank() == 0) print(line);
        return line.exit_status;
    }
    try {
        return measure(line.options);
    } catch (const std::invalid_argument& error) {
        if (my_rank() == 0) fmt::print(stderr, "gc_bench regret: {}\n", error.what());
        return usage_error;
    }
}

}  // namespace
}  // namespace gradcoll::bench

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int status = gradcoll::bench::run(argc, argv);
    MPI_Finalize();
    return status;
}
