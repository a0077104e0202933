// train_fashion/options.hpp - the options of the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace train {

/// Options have the program's defaults; empty strings leave the library's own setting alone.
struct Options {
    // gradient sums
    std::string codec =
        "exact";  ///< a codec of Gradcoll, or "mpi": MPI_Allreduce instead of Gradcoll
    std::string schedule;
    std::string feedback;
    std::string level_codecs;
    std::string down_codec;
    std::string min_bytes;
    bool engine = false;        ///< one engine for all gradients, instead of a request for each
    bool reproducible = false;  ///< the same bits on any number of hosts
    bool check_first_step = false;
    bool survive = false;     ///< go on without ranks that have died
    std::vector<int> lose;    ///< ranks that kill themselves, to show that
    std::size_t lose_at = 0;  ///< in this step, from 1
    // training
    std::size_t epochs = 5;
    std::size_t steps = 0;  ///< stop after so many steps; 0: no limit
    std::size_t batch = 256;
    float rate = 0.05F;
    float momentum = 0.9F;
    std::uint64_t seed = 1;
    std::string data = "/usr/share/datasets/fashion-mnist";
    // output
    std::string csv;
    std::string save_gradients;
    std::string table_row;
    bool quiet = false;

    bool uses_gradcoll() const { return codec != "mpi"; }
};

/// ParsedOptions are either options to run with, or the exit code to end with (0 after --help, 2
/// after an error) and what to print first.
struct ParsedOptions {
    Options options;
    bool run = true;
    int exit_code = 0;
    std::string text;
};

/// Reads the command line. Local and the same on every rank: the caller prints `text` on one of
/// them.
ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace train
