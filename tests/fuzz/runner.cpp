#include "fuzz/runner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <numeric>
#include <vector>

#include "command_line/option_parser.hpp"

extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));

namespace gradcoll::fuzz {
namespace {

struct Counts {
    std::uint64_t accepted = 0, refused = 0;
    double slowest_ms = 0;
    std::uint64_t slowest_input = 0;
};

struct Options {
    std::uint64_t inputs = 0, seed = 1, first = 0;
    std::string only;
    unsigned limit_s = 60;
};

/// This is set while inputs run, to find the one that broke a promise.
std::uint64_t current_input = 0;
void name_the_input() {
    fmt::print(stderr, "input number {}: repeat it with --first {} --inputs 1\n", current_input,
               current_input);
}
void name_the_failed(int signal) {
    name_the_input();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}
void name_the_slow(int) {
    fmt::print(stderr, "broken promise: no text takes longer than the limit\n");
    name_the_input();
    _exit(1);
}

std::size_t target_by_share(std::span<const Target> targets, Random& random) {
    const unsigned all =
        std::accumulate(targets.begin(), targets.end(), 0U,
                        [](unsigned sum, const Target& t) { return sum + t.share; });
    std::size_t at = random.below(all), target = 0;
    while (at >= targets[target].share) at -= targets[target++].share;
    return target;
}

void run_one(const Target& target, const std::string& text, Counts& counts) {
    const auto begin = std::chrono::steady_clock::now();
    (target.run(text) ? counts.accepted : counts.refused)++;
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    if (taken.count() <= counts.slowest_ms) return;
    counts.slowest_ms = taken.count();
    counts.slowest_input = current_input;
}

std::vector<Counts> run_all(const Fuzz& fuzz, const Options& options) {
    std::vector<Counts> counts(fuzz.targets.size());
    for (std::uint64_t i = options.first; i < options.first + options.inputs; ++i) {
        current_input = i;
        Random random(options.seed, i);
        const std::size_t target = target_by_share(fuzz.targets, random);
        if (!options.only.empty() && fuzz.targets[target].name != options.only) continue;
        const std::string text = fuzz.make(fuzz.targets[target].seeds, random);
        alarm(options.limit_s);
        run_one(fuzz.targets[target], text, counts[target]);
        if (fuzz.each) fuzz.each(i, text);
    }
    alarm(0);
    return counts;
}

/// Prints the counts; returns whether every parser accepted and refused some texts.
bool print(const Fuzz& fuzz, const std::vector<Counts>& counts) {
    bool useful = true;
    for (std::size_t t = 0; t < counts.size(); ++t) {
        const auto [accepted, refused, ms, input] = counts[t];
        fmt::print("{:<28}{:>10} accepted {:>10} refused, slowest {:8.1f} ms (input {})\n",
                   fuzz.targets[t].name, accepted, refused, ms, input);
        useful =
            useful && 100 * accepted > accepted + refused && 100 * refused > accepted + refused;
    }
    return useful;
}

}  // namespace

int run_fuzz(int argc, char** argv, const Fuzz& fuzz) {
    Options options;
    options.inputs = fuzz.inputs;
    OptionParser app(fuzz.description, fuzz.name);
    app.add_option("--inputs", options.inputs, "how many texts")->capture_default_str();
    app.add_option("--seed", options.seed, "which texts")->capture_default_str();
    app.add_option("--first", options.first, "number of the first text")->capture_default_str();
    app.add_option("--target", options.only, "only the texts of this one");
    app.add_option("--limit", options.limit_s, "seconds for a text")->capture_default_str();
    if (const auto status = app.exit_status(argc, argv)) return *status;
    std::signal(SIGABRT, name_the_failed);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(name_the_input);
    else
        std::signal(SIGSEGV, name_the_failed);
    std::signal(SIGALRM, name_the_slow);
    const bool useful = print(fuzz, run_all(fuzz, options));
    fmt::print("{}: {} inputs of seed {}, no promise broken\n", fuzz.name, options.inputs,
               options.seed);
    constexpr std::uint64_t enough = 10'000;
    if (useful || options.inputs < enough || !options.only.empty()) return 0;
    fmt::print(stderr, "some parser accepts or refuses less than 1 % of its texts\n");
    return 1;
}

}  // namespace gradcoll::fuzz
