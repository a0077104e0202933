// train_fashion/report.hpp - everything that the user sees: tables, progress bar, CSV files.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "gradient_sync.hpp"
#include "idx.hpp"
#include "options.hpp"
#include "replicas.hpp"

namespace train {

/// A StepReport is the state after one step, over all ranks.
struct StepReport {
    std::size_t step = 0;            ///< from 1, through all epochs
    double loss = 0;                 ///< mean over the step's global batch
    double seconds = 0;              ///< spent so far in sums, mean over ranks
    std::optional<WireBytes> bytes;  ///< sent so far, sum over ranks
};

struct EpochReport {
    std::size_t epoch = 0;  ///< from 1
    std::vector<StepReport> steps;
    double accuracy = 0;  ///< on the test set, 0 to 1
    double seconds = 0;   ///< since the training began

    double mean_loss() const;
};

/// Report writes on one rank and does nothing on the others. Not thread safe.
class Report {
  public:
    /// Opens the files. Throws FileError if a file of the options cannot be written.
    Report(const Options& options, int rank, int ranks);

    void begin(const std::string& tree, std::size_t pictures, std::size_t parameters);
    void progress(std::size_t step, std::size_t steps);
    void epoch(const EpochReport& report);
    /// Tells that ranks have died in this step, and who goes on.
    void lost(const std::string& why, std::size_t step, int rank, int ranks);
    void sum_checks(const std::vector<SumCheck>& checks, bool lossy);
    /// Writes what Options::save_gradients asks for.
    void gradients(const std::vector<Parameter>& parameters);
    void end(const EpochReport& last, std::uint64_t weights_hash, bool identical);

  private:
    using Clock = std::chrono::steady_clock;

    bool talks() const { return speaks_ && !options_.quiet; }
    void write_csv(const EpochReport& report);
    void append_table_row(const EpochReport& last, std::uint64_t weights_hash);

    const Options& options_;
    int ranks_;
    bool speaks_;
    bool terminal_;
    bool heading_printed_ = false;
    Clock::time_point began_;  ///< when the first step of the epoch had ended
    std::ofstream csv_;
    std::ofstream table_;
    std::ofstream gradients_;
};

}  // namespace train
