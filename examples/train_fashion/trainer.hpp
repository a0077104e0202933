// train_fashion/trainer.hpp - the data-parallel loop: every rank works on its share of each global
// batch.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "batches.hpp"
#include "gradient_sync.hpp"
#include "mlp.hpp"
#include "options.hpp"
#include "report.hpp"
#include "sgd.hpp"

namespace train {

/// TrainingData is what the training uses and does not own.
struct TrainingData {
    const Dataset& train;
    const Dataset& test;
};

/// Trainer runs the training; all functions are collective over the communicator. Not thread safe.
class Trainer {
  public:
    /// Makes a trainer. Throws SettingsError if the library refuses the options.
    Trainer(const Options& options, TrainingData data, MPI_Comm comm);

    /// Trains and reports. Returns true if all ranks end with the same weights and the first step's
    /// sums, if the options ask for that check, were right. Throws SyncError.
    bool run(Report& report);

    const Mlp& network() const { return network_; }

  private:
    /// A LocalStep is what this rank adds to one step's line of the report.
    struct LocalStep {
        double loss;
        double seconds;
        std::optional<WireBytes> bytes;
    };

    std::size_t total_steps() const;
    LocalStep train_step(const std::vector<std::uint32_t>& order, std::size_t step);
    void check_sums(Report& report);
    EpochReport run_epoch(std::size_t epoch, std::size_t first_step, std::size_t steps,
                          Report& report);
    std::vector<StepReport> reduce_steps(const std::vector<LocalStep>& local,
                                         std::size_t first_step) const;
    double test_accuracy();

    const Options& options_;
    TrainingData data_;
    MPI_Comm comm_;
    int rank_ = 0;
    int ranks_ = 1;
    Mlp network_;
    Sgd optimizer_;
    std::unique_ptr<GradientSync> sync_;
    std::unique_ptr<SumChecker> checker_;  // during the first step, if it is to be checked
    Batch batch_;
    bool sums_right_ = true;
    double began_ = 0;
};

}  // namespace train
