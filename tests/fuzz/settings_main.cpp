// fuzz_settings - feeds made-up texts to every parser of settings: fuzz_settings --inputs 10000000.
// Ends with an error if a promise is broken, or if a parser accepted or refused (nearly) nothing,
// so that the texts no longer test it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/config_file.hpp"
#include "fuzz/mutator.hpp"
#include "fuzz/settings_targets.hpp"

namespace gradcoll::fuzz {
namespace {

struct Counts {
    std::uint64_t accepted = 0, refused = 0;
};

/// The same text from a disk must read the same.
class FileCheck {
  public:
    FileCheck() { std::filesystem::create_directory(folder_); }
    ~FileCheck() { std::filesystem::remove_all(folder_); }
    FileCheck(const FileCheck&) = delete;
    FileCheck& operator=(const FileCheck&) = delete;

    void run(const std::string& text) const {
        const std::string path = folder_ / "fuzz.conf";
        std::ofstream(path, std::ios::binary) << text;
        const ConfigFile read = read_config_file(path);
        const ConfigFile parsed = parse_config(text, path);
        if (read.entries.size() != parsed.entries.size() || read.complaints != parsed.complaints)
            broken("a file reads as its text does", text);
    }

  private:
    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / fmt::format("gradcoll-fuzz-{}", getpid());
};

/// Set while inputs run, for those who must find the one that broke a promise.
std::uint64_t current_input = 0;
void name_the_input(int) {
    fmt::print(stderr, "input number {}: repeat it with --first {} --inputs 1\n", current_input,
               current_input);
}

std::vector<Counts> run_all(std::uint64_t seed, std::uint64_t first, std::uint64_t inputs) {
    constexpr std::uint64_t between_files = 10'000;
    const auto targets = settings_targets();
    std::vector<Counts> counts(targets.size());
    const FileCheck files;
    for (std::uint64_t i = first; i < first + inputs; ++i) {
        current_input = i;
        Random random(seed, i);
        const std::size_t target = random.below(targets.size());
        const std::string text = make_input(targets[target].seeds, random);
        (targets[target].run(text) ? counts[target].accepted : counts[target].refused)++;
        if (i % between_files == 0) files.run(text);
    }
    return counts;
}

/// Whether every parser accepted and refused some.
bool print(const std::vector<Counts>& counts) {
    bool useful = true;
    for (std::size_t t = 0; t < counts.size(); ++t) {
        const auto [accepted, refused] = counts[t];
        fmt::print("{:<28}{:>10} accepted {:>10} refused\n", settings_targets()[t].name, accepted,
                   refused);
        useful =
            useful && 100 * accepted > accepted + refused && 100 * refused > accepted + refused;
    }
    return useful;
}

}  // namespace
}  // namespace gradcoll::fuzz

int main(int argc, char** argv) {
    using namespace gradcoll::fuzz;
    std::uint64_t inputs = 200'000, seed = 1, first = 0;
    CLI::App app("Feeds made-up texts to every parser of settings.");
    app.add_option("--inputs", inputs, "how many texts")->capture_default_str();
    app.add_option("--seed", seed, "which texts")->capture_default_str();
    app.add_option("--first", first, "number of the first text")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    std::signal(SIGABRT, name_the_input);
    const auto counts = run_all(seed, first, inputs);
    const bool useful = print(counts);
    fmt::print("fuzz_settings: {} inputs of seed {}, no promise broken\n", inputs, seed);
    constexpr std::uint64_t enough = 10'000;
    if (useful || inputs < enough) return 0;
    fmt::print(stderr, "some parser accepts or refuses less than 1 % of its texts\n");
    return 1;
}
