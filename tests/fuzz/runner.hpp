// fuzz/runner.hpp - the main program of a fuzz: made-up texts for targets in turn, counts, and the
// slowest text of each.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/mutator.hpp"

namespace gradcoll::fuzz {

struct Target {
    std::string_view name;
    /// Returns whether the text was accepted.
    bool (*run)(std::string_view text);
    std::span<const std::string_view> seeds;  ///< texts to begin with, most of them accepted
    unsigned share = 1;                       ///< its share of the inputs
};

struct Fuzz {
    std::string name, description;
    std::span<const Target> targets;
    std::string (*make)(std::span<const std::string_view> seeds, Random& random) = make_input;
    std::uint64_t inputs = 200'000;  ///< used if the command line names no other number
    std::function<void(std::uint64_t number, const std::string& text)> each;  ///< may be empty
};

/// Runs a fuzz with the options --inputs, --seed, --first, --target, --limit. A text on which a
/// promise breaks, or that takes longer than the limit, ends the program with the number that
/// repeats it. A parser that accepted or refused (nearly) nothing is an error, too, since the texts
/// no longer test it.
int run_fuzz(int argc, char** argv, const Fuzz& fuzz);

std::span<const Target> settings_targets();

std::span<const Target> topology_targets();

std::vector<Target> files_targets();

std::vector<Target> mover_targets();

}  // namespace gradcoll::fuzz
