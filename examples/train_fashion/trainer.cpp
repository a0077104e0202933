// train_fashion/trainer.cpp - steps, epochs, and what is collected from the ranks for the report.
#include "trainer.hpp"

#include <gradcoll/gradcoll.h>

#include <algorithm>
#include <csignal>

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

/// Lets ranks agree on sums of the communicator, and keeps short ones from the MPI library, where
/// they would not.
void settle_survival(MPI_Comm comm) {
    try {
        check_gc(GC_Comm_set_option(comm, "gc_fault", "survive"), "gc_fault");
        check_gc(GC_Comm_set_option(comm, "gc_tree_min_bytes", "0"), "gc_tree_min_bytes");
    } catch (const SyncError& error) {
        throw SettingsError(error.what());
    }
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
    first_rank_ = rank_;
    if (options.check_first_step) checker_ = std::make_unique<SumChecker>(network_.parameters());
    if (options.survive) settle_survival(comm);
}

Trainer::~Trainer() {
    sync_.reset();
    if (owns_comm_) MPI_Comm_free(&comm_);
}

/// Runs a part of the training whose sums all ranks make or none does: again with those that live,
/// if some have died.
template <class Part>
auto Trainer::with_who_lives(Report& report, Part&& part) {
    for (;;) {
        try {
            return part();
        } catch (const SyncError& error) {
            if (!options_.survive) throw;
            go_on_without_the_dead(error, report);
        }
    }
}

void Trainer::go_on_without_the_dead(const SyncError& error, Report& report) {
    MPI_Comm rest = MPI_COMM_NULL;
    check_gc(GC_Comm_shrink(comm_, &rest), "shrink");
    sync_->go_on(rest);
    if (owns_comm_) MPI_Comm_free(&comm_);
    comm_ = rest;
    owns_comm_ = true;
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
    report.lost(error.what(), steps_begun_, rank_, ranks_);
}

std::vector<double> Trainer::sum_over_ranks(const std::vector<double>& values) const {
    std::vector<double> sums(values.size());
    const auto count = static_cast<int>(values.size());
    if (options_.survive)
        check_gc(GC_Allreduce(values.data(), sums.data(), count, MPI_DOUBLE, MPI_SUM, comm_),
                 "sums of the report");
    else
        MPI_Allreduce(values.data(), sums.data(), count, MPI_DOUBLE, MPI_SUM, comm_);
    return sums;
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
        steps_begun_ = first_step + step + 1;
        local.push_back(with_who_lives(report, [&] { return train_step(order, step); }));
        if (checker_) check_sums(report);
        optimizer_.step(network_.parameters());
        report.progress(step + 1, steps);
    }
    EpochReport result{epoch + 1,
                       with_who_lives(report, [&] { return reduce_steps(local, first_step); }),
                       with_who_lives(report, [&] { return test_accuracy(); }), 0};
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
        die_if_asked_to(index);
    });
    sync_->finish();
    return {loss, static_cast<double>(batch_.count), sync_->seconds(), sync_->wire_bytes()};
}

/// Ends this process in the middle of a step.
void Trainer::die_if_asked_to(std::size_t index) const {
    const bool is_now =
        steps_begun_ == options_.lose_at && index == network_.parameters().size() / 2;
    if (is_now && std::count(options_.lose.begin(), options_.lose.end(), first_rank_) > 0)
        std::raise(SIGKILL);
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
    constexpr std::size_t fields = 5;
    std::vector<double> mine;
    for (const LocalStep& step : local) {
        const WireBytes bytes = step.bytes.value_or(WireBytes{});
        mine.insert(mine.end(),
                    {step.loss, step.pictures, step.seconds / ranks_,
                     static_cast<double>(bytes.sent), static_cast<double>(bytes.sent_exact)});
    }
    const std::vector<double> sums = sum_over_ranks(mine);
    std::vector<StepReport> steps;
    for (std::size_t i = 0; i < local.size(); ++i) {
        const double* sum = sums.data() + i * fields;
        StepReport step{first_step + i + 1, sum[0] / sum[1], sum[2], std::nullopt};
        if (local[i].bytes)
            step.bytes = WireBytes{static_cast<std::uint64_t>(sum[3]),
                                   static_cast<std::uint64_t>(sum[4]), 0};
        steps.push_back(step);
    }
    return steps;
}

double Trainer::test_accuracy() {
    const Share mine = share_of(data_.test.count, static_cast<std::size_t>(rank_),
                                static_cast<std::size_t>(ranks_));
    std::size_t correct = 0;
    for (std::size_t begin = mine.begin; begin < mine.end; begin += test_batch) {
        load_batch(data_.test, {}, {begin, std::min(begin + test_batch, mine.end)}, batch_);
        network_.forward(batch_.inputs, batch_.count);
        correct += network_.count_correct(batch_.labels);
    }
    return sum_over_ranks({static_cast<double>(correct)})[0] /
           static_cast<double>(data_.test.count);
}

}  // namespace train
