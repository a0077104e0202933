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
    ~Trainer();
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;

    /// Trains and reports. Returns true if all ranks end with the same weights and the first step's
    /// sums, if the options ask for that check, were right. Throws SyncError.
    bool run(Report& report);

    const Mlp& network() const { return network_; }
    /// Returns whether ranks have died, after which MPI cannot be relied on to end.
    bool has_lost_ranks() const { return owns_comm_; }

  private:
    /// A LocalStep is what this rank adds to one step's line of the report.
    struct LocalStep {
        double loss;  ///< sum over its pictures
        double pictures;
        double seconds;
        std::optional<WireBytes> bytes;
    };

    std::size_t total_steps() const;
    template <class Part>
    auto with_who_lives(Report& report, Part&& part);
    void go_on_without_the_dead(const SyncError& error, Report& report);
    std::vector<double> sum_over_ranks(const std::vector<double>& values) const;
    LocalStep train_step(const std::vector<std::uint32_t>& order, std::size_t step);
    void die_if_asked_to(std::size_t index) const;
    void check_sums(Report& report);
    EpochReport run_epoch(std::size_t epoch, std::size_t first_step, std::size_t steps,
                          Report& report);
    std::vector<StepReport> reduce_steps(const std::vector<LocalStep>& local,
                                         std::size_t first_step) const;
    double test_accuracy();

    const Options& options_;
    TrainingData data_;
    MPI_Comm comm_;
    bool owns_comm_ = false;  ///< it is not the one of the beginning
    int first_rank_ = 0;      ///< this rank at the beginning
    int rank_ = 0;
    int ranks_ = 1;
    Mlp network_;
    Sgd optimizer_;
    std::unique_ptr<GradientSync> sync_;
    std::unique_ptr<SumChecker> checker_;  // during the first step, if it is to be checked
    Batch batch_;
    bool sums_right_ = true;
    std::size_t steps_begun_ = 0;
    double began_ = 0;
};

}  // namespace train
