// train_fashion/trainer.cpp - steps, epochs, and what is collected from the ranks for the report.
#include "trainer.hpp"

#include <gradcoll/gradcoll.h>

#include <algorithm>

#include "replicas.hpp"

namespace train {
namespace {

constexpr std::size_t hidden1 = 256;
constexpr std::size_t hidden2 = 128;
constexpr std::size_t test_batch = 500;

std::size_t count_weights(const Mlp& network) {
    std::size_t count = 0;
    for (const Parameter& parameter : network.parameters()) count += parameter.values.size();
    return count;
}

std::string tree_expression(MPI_Comm comm) {
    std::size_t length = 0;
    if (GC_Comm_get_tree(comm, GC_TREE_EXPRESSION, nullptr, &length) != MPI_SUCCESS) return {};
    std::string text(length, '\0');
    if (GC_Comm_get_tree(comm, GC_TREE_EXPRESSION, text.data(), &length) != MPI_SUCCESS) return {};
    return text.c_str();
}

bool all_right(const std::vector<SumCheck>& checks, bool lossy) {
    return std::all_of(checks.begin(), checks.end(), [&](const SumCheck& check) {
        return check.identical_bits && (lossy || check.order_bounds <= 1.0);
    });
}

}  // namespace

Trainer::Trainer(const Options& options, TrainingData data, MPI_Comm comm)
    : options_(options),
      data_(data),
      comm_(comm),
      network_({data.train.features, hidden1, hidden2, Dataset::classes}, options.seed),
      optimizer_(network_.parameters(), options.rate, options.momentum),
      sync_(make_gradient_sync(network_.parameters(), options, comm)) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &ranks_);
    if (options.check_first_step) checker_ = std::make_unique<SumChecker>(network_.parameters());
}

bool Trainer::run(Report& report) {
    report.begin(options_.uses_gradcoll() ? tree_expression(comm_) : "", data_.train.count,
                 count_weights(network_));
    MPI_Barrier(comm_);
    began_ = MPI_Wtime();
    const std::size_t steps_per_epoch = data_.train.count / options_.batch;
    EpochReport last;
    for (std::size_t done = 0; done < total_steps(); done += steps_per_epoch) {
        const std::size_t steps = std::min(steps_per_epoch, total_steps() - done);
        last = run_epoch(done / steps_per_epoch, done, steps, report);
        report.epoch(last);
    }
    report.gradients(network_.parameters());
    const std::uint64_t hash = hash_weights(network_.parameters());
    const bool identical = same_on_all_ranks(hash, comm_);
    report.end(last, hash, identical);
    return identical && sums_right_;
}

std::size_t Trainer::total_steps() const {
    const std::size_t all = options_.epochs * (data_.train.count / options_.batch);
    return options_.steps == 0 ? all : std::min(all, options_.steps);
}

EpochReport Trainer::run_epoch(std::size_t epoch, std::size_t first_step, std::size_t steps,
                               Report& report) {
    const auto order = shuffled_order(data_.train.count, options_.seed, epoch);
    std::vector<LocalStep> local;
    for (std::size_t step = 0; step < steps; ++step) {
        local.push_back(train_step(order, step));
        if (checker_) check_sums(report);
        optimizer_.step(network_.parameters());
        report.progress(step + 1, steps);
    }
    EpochReport result{epoch + 1, reduce_steps(local, first_step), test_accuracy(), 0};
    result.seconds = MPI_Wtime() - began_;
    return result;
}

Trainer::LocalStep Trainer::train_step(const std::vector<std::uint32_t>& order, std::size_t step) {
    const Share mine =
        share_of(options_.batch, static_cast<std::size_t>(rank_), static_cast<std::size_t>(ranks_));
    const std::size_t first = step * options_.batch;
    load_batch(data_.train, order, {first + mine.begin, first + mine.end}, batch_);
    network_.forward(batch_.inputs, batch_.count);
    const double loss =
        network_.softmax_loss(batch_.labels, 1.0F / static_cast<float>(options_.batch));
    network_.backward([this](std::size_t index) {
        if (checker_) checker_->keep(network_.parameters()[index], index);
        sync_->start(index);
    });
    sync_->finish();
    return {loss / static_cast<double>(options_.batch), sync_->seconds(), sync_->wire_bytes()};
}

void Trainer::check_sums(Report& report) {
    const auto checks = checker_->compare(network_.parameters(), comm_);
    const bool lossy = sync_->wire_bytes().value_or(WireBytes{}).lossy_sums > 0;
    sums_right_ = all_right(checks, lossy);
    report.sum_checks(checks, lossy);
    checker_.reset();
}

std::vector<StepReport> Trainer::reduce_steps(const std::vector<LocalStep>& local,
                                              std::size_t first_step) const {
    constexpr std::size_t fields = 4;
    std::vector<double> sums;
    for (const LocalStep& step : local) {
        const WireBytes bytes = step.bytes.value_or(WireBytes{});
        sums.insert(sums.end(), {step.loss, step.seconds / ranks_, static_cast<double>(bytes.sent),
                                 static_cast<double>(bytes.sent_exact)});
    }
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                  comm_);
    std::vector<StepReport> steps;
    for (std::size_t i = 0; i < local.size(); ++i) {
        const double* sum = sums.data() + i * fields;
        StepReport step{first_step + i + 1, sum[0], sum[1], std::nullopt};
        if (local[i].bytes)
            step.bytes = WireBytes{static_cast<std::uint64_t>(sum[2]),
                                   static_cast<std::uint64_t>(sum[3]), 0};
        steps.push_back(step);
    }
    return steps;
}

double Trainer::test_accuracy() {
    const Share mine = share_of(data_.test.count, static_cast<std::size_t>(rank_),
                                static_cast<std::size_t>(ranks_));
    unsigned long long correct = 0;
    for (std::size_t begin = mine.begin; begin < mine.end; begin += test_batch) {
        load_batch(data_.test, {}, {begin, std::min(begin + test_batch, mine.end)}, batch_);
        network_.forward(batch_.inputs, batch_.count);
        correct += network_.count_correct(batch_.labels);
    }
    MPI_Allreduce(MPI_IN_PLACE, &correct, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm_);
    return static_cast<double>(correct) / static_cast<double>(data_.test.count);
}

}  // namespace train
