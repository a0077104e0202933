// train_fashion/report.cpp - formats what the user sees.
#include "report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>

namespace train {
namespace {

constexpr std::size_t bar_width = 40;

std::ofstream open_for_writing(const std::string& path, std::ios::openmode mode) {
    if (path.empty()) return {};
    std::ofstream file(path, mode);
    if (!file) throw FileError(fmt::format("{}: cannot be written", path));
    return file;
}

/// Returns whether a user sees stdout. Open MPI gives every rank a terminal of its own, so the
/// launcher's output counts, too, if it can be seen.
bool stdout_reaches_terminal() {
    if (isatty(STDOUT_FILENO) != 1) return false;
    std::error_code unseen;
    const auto output =
        std::filesystem::read_symlink(fmt::format("/proc/{}/fd/1", getppid()), unseen).string();
    return unseen || output.starts_with("/dev/pts/") || output.starts_with("/dev/tty");
}

std::string sums_text(const Options& options) {
    if (!options.uses_gradcoll()) return "MPI_Allreduce";
    return fmt::format("Gradcoll, {}codec {}", options.engine ? "an engine, " : "", options.codec);
}

std::string mebibytes(std::uint64_t bytes) {
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string wire_text(const std::optional<WireBytes>& bytes) {
    if (!bytes) return fmt::format("{:>12}{:>12}{:>7}", "-", "-", "-");
    const double saving =
        bytes->sent > 0 ? static_cast<double>(bytes->sent_exact) / static_cast<double>(bytes->sent)
                        : 1.0;
    return fmt::format("{:>12}{:>12}{:>6.2f}x", mebibytes(bytes->sent),
                       mebibytes(bytes->sent_exact), saving);
}

std::string seconds_text(double part, double whole) {
    return fmt::format("{:.2f} s of {:.2f} s ({:.0f} %)", part, whole,
                       whole > 0 ? 100 * part / whole : 0.0);
}

std::string csv_bytes(const std::optional<WireBytes>& bytes) {
    return bytes ? fmt::format("{},{}", bytes->sent, bytes->sent_exact) : std::string(",");
}

/// Returns the settings for a CSV file, quoted since they hold commas.
std::string csv_settings(const Options& options) {
    return fmt::format("{},\"{}\",{},\"{}\",{}", options.codec, options.schedule, options.feedback,
                       options.level_codecs, options.down_codec);
}

/// Returns "-" for a lossy sum, which is not measured in rounding errors.
std::string bounds_text(const SumCheck& check, bool lossy) {
    return lossy && check.order_bounds > 1 ? "-" : fmt::format("{:.3g}", check.order_bounds);
}

}  // namespace

double EpochReport::mean_loss() const {
    const double sum =
        std::accumulate(steps.begin(), steps.end(), 0.0,
                        [](double total, const StepReport& step) { return total + step.loss; });
    return steps.empty() ? 0.0 : sum / static_cast<double>(steps.size());
}

Report::Report(const Options& options, int rank, int ranks)
    : options_(options), ranks_(ranks), speaks_(rank == 0), terminal_(stdout_reaches_terminal()) {
    if (!speaks_) return;
    csv_ = open_for_writing(options.csv, std::ios::trunc);
    if (csv_.is_open())
        csv_ << "step,epoch,loss,test_accuracy,wire_bytes,wire_bytes_exact,sum_seconds\n";
    gradients_ = open_for_writing(options.save_gradients, std::ios::trunc | std::ios::binary);
    table_ = open_for_writing(options.table_row, std::ios::app);
    if (table_.is_open() && std::filesystem::file_size(options.table_row) == 0)
        table_ << "ranks,codec,schedule,feedback,level_codecs,down_codec,steps,batch,lr,momentum,"
                  "seed,loss,"
                  "test_accuracy,wire_bytes,wire_bytes_exact,sum_seconds,seconds,weights_hash\n";
}

void Report::begin(const std::string& tree, std::size_t pictures, std::size_t parameters) {
    if (!talks()) return;
    fmt::print(
        "{} pictures, {} weights ({} of gradients a step), {} ranks, {} pictures a step, seed {}\n",
        pictures, parameters, mebibytes(parameters * sizeof(float)), ranks_, options_.batch,
        options_.seed);
    fmt::print("sums: {}{}\n", sums_text(options_),
               options_.schedule.empty() ? "" : ", schedule " + options_.schedule);
    if (!tree.empty()) fmt::print("tree: {}\n", tree);
    std::fflush(stdout);
}

void Report::progress(std::size_t step, std::size_t steps) {
    if (!talks() || !terminal_) return;
    if (step == 1) began_ = Clock::now();
    const std::size_t done = bar_width * step / steps;
    if (step < steps && done == bar_width * (step - 1) / steps) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    const auto left =
        static_cast<double>(steps - step) / static_cast<double>(std::max<std::size_t>(step - 1, 1));
    fmt::print("\r[{:=<{}}{:<{}}] {}/{}, about {:.0f} s left ", "", done, "", bar_width - done,
               step, steps, std::ceil(seconds * left));
    if (step == steps) fmt::print("\r{:{}}\r", "", bar_width + 38);
    std::fflush(stdout);
}

void Report::epoch(const EpochReport& report) {
    if (talks()) {
        if (!heading_printed_)
            fmt::print("{:>5}{:>9}{:>10}{:>12}{:>12}{:>7}  {}\n", "epoch", "loss", "accuracy",
                       "sent", "exact", "saved", "time in sums");
        heading_printed_ = true;
        fmt::print("{:>5}{:>9.4f}{:>8.2f} %{}  {}\n", report.epoch, report.mean_loss(),
                   100 * report.accuracy, wire_text(report.steps.back().bytes),
                   seconds_text(report.steps.back().seconds, report.seconds));
        std::fflush(stdout);
    }
    write_csv(report);
}

void Report::lost(const std::string& why, std::size_t step, int rank, int ranks) {
    ranks_ = ranks;
    if (rank == 0 && !speaks_) {
        speaks_ = true;
        csv_ = open_for_writing(options_.csv, std::ios::app);
        gradients_ = open_for_writing(options_.save_gradients, std::ios::trunc | std::ios::binary);
        table_ = open_for_writing(options_.table_row, std::ios::app);
    }
    if (!speaks_) return;
    fmt::print("step {}: {}: {} ranks go on\n", step, why, ranks);
    std::fflush(stdout);
}

void Report::gradients(const std::vector<Parameter>& parameters) {
    if (!gradients_.is_open()) return;
    for (const Parameter& parameter : parameters)
        gradients_.write(reinterpret_cast<const char*>(parameter.gradient.data()),
                         static_cast<std::streamsize>(parameter.gradient.size() * sizeof(float)));
}

void Report::write_csv(const EpochReport& report) {
    if (!csv_.is_open()) return;
    for (const StepReport& step : report.steps)
        csv_ << fmt::format(
            "{},{},{:.6f},{},{},{:.6f}\n", step.step, report.epoch, step.loss,
            &step == &report.steps.back() ? fmt::format("{:.4f}", report.accuracy) : "",
            csv_bytes(step.bytes), step.seconds);
    csv_.flush();
}

void Report::sum_checks(const std::vector<SumCheck>& checks, bool lossy) {
    if (!talks()) return;
    fmt::print("first step against MPI_Allreduce ({} sums):\n", lossy ? "some lossy" : "exact");
    fmt::print("{:>10}{:>10}{:>13}{:>14}  {}\n", "tensor", "elements", "rel. L2", "order bounds",
               "all ranks");
    for (const SumCheck& check : checks)
        fmt::print("{:>10}{:>10}{:>13.2e}{:>14}  {}\n", check.name, check.elements,
                   check.relative_l2, bounds_text(check, lossy),
                   check.identical_bits ? "identical bits" : "DIFFERENT BITS");
}

void Report::end(const EpochReport& last, std::uint64_t weights_hash, bool identical) {
    if (!speaks_) return;
    fmt::print(
        "weights {:016x} {} on {} ranks, test accuracy {:.2f} % after {} steps, loss {:.4f}\n",
        weights_hash, identical ? "identical" : "DIFFERENT", ranks_, 100 * last.accuracy,
        last.steps.back().step, last.mean_loss());
    append_table_row(last, weights_hash);
}

void Report::append_table_row(const EpochReport& last, std::uint64_t weights_hash) {
    if (!table_.is_open()) return;
    const StepReport& step = last.steps.back();
    table_ << fmt::format("{},{},{},{},{},{},{},{:.6f},{:.4f},{},{:.3f},{:.3f},{:016x}\n", ranks_,
                          csv_settings(options_), step.step, options_.batch, options_.rate,
                          options_.momentum, options_.seed, last.mean_loss(), last.accuracy,
                          csv_bytes(step.bytes), step.seconds, last.seconds, weights_hash);
}

}  // namespace train
