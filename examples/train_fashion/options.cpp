// train_fashion/options.cpp - reads the command line.
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <sstream>

namespace train {
namespace {

void add_sum_options(CLI::App& app, Options& options) {
    app.add_option("--codec", options.codec,
                   "a codec that gradcoll info lists (exact, 2:4, bf16, int8, ...), or mpi (plain "
                   "MPI_Allreduce)")
        ->capture_default_str();
    app.add_option("--schedule", options.schedule, "codec by step, such as 0:4:4,500:2:4,1000:1:4");
    app.add_option("--feedback", options.feedback, "error feedback: on or off")
        ->check(CLI::IsMember({"on", "off"}));
    app.add_option("--level-codecs", options.level_codecs,
                   "one codec for each level of the tree, nearest the ranks first");
    app.add_option("--down-codec", options.down_codec, "codec on the way down: same, or a codec");
    app.add_option("--min-bytes", options.min_bytes,
                   "smaller tensors are never compressed, such as 64K");
    app.add_flag("--engine", options.engine,
                 "hand gradients to an engine (gradcoll/engine.h) instead of persistent requests");
    app.add_flag("--reproducible", options.reproducible,
                 "exact sums that have the same bits on any number of hosts and wherever ranks are "
                 "(gc_reproducible=anywhere)");
    app.add_flag("--check-first-step", options.check_first_step,
                 "compare the first step's sums with MPI_Allreduce");
}

void add_survival_options(CLI::App& app, Options& options) {
    CLI::Option* const survive = app.add_flag(
        "--survive", options.survive,
        "go on without ranks that die, in the same step; needs --engine, and an MPI library with "
        "ULFM whose launcher lets the others live (mpirun --with-ft ulfm)");
    app.add_option("--lose", options.lose, "these ranks kill themselves, such as 1,3")
        ->delimiter(',')
        ->check(CLI::NonNegativeNumber)
        ->needs(survive);
    app.add_option("--lose-at", options.lose_at, "the step in which they do, from 1")
        ->check(CLI::Range(1, 100000000))
        ->needs("--lose");
}

void add_training_options(CLI::App& app, Options& options) {
    app.add_option("--epochs", options.epochs)->check(CLI::Range(1, 10000))->capture_default_str();
    app.add_option("--steps", options.steps, "stop after so many steps; 0: no limit")
        ->check(CLI::Range(0, 100000000))
        ->capture_default_str();
    app.add_option("--batch", options.batch, "pictures a step, over all ranks")
        ->check(CLI::Range(1, 60000))
        ->capture_default_str();
    app.add_option("--lr", options.rate, "learning rate")
        ->check(CLI::Range(0.0, 10.0))
        ->capture_default_str();
    app.add_option("--momentum", options.momentum)
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--seed", options.seed)->capture_default_str();
    app.add_option("--data", options.data, "folder of the dataset")->capture_default_str();
}

void add_output_options(CLI::App& app, Options& options) {
    app.add_option("--csv", options.csv,
                   "write step, epoch, loss, accuracy, bytes and seconds to this file");
    app.add_option("--save-gradients", options.save_gradients,
                   "write the summed gradients of the last step to this file, as raw floats");
    app.add_option("--table-row", options.table_row, "append one summary row to this CSV file");
    app.add_flag("--quiet", options.quiet, "print the last line only");
}

/// Refuses settings with MPI_Allreduce, which has none, instead of ignoring them.
void check_combination(const Options& options) {
    if (options.engine && !options.schedule.empty())
        throw CLI::ValidationError(
            "--schedule", "has no meaning with --engine, whose codec stays; leave one out");
    if (options.survive && !options.engine)
        throw CLI::ValidationError("--survive", "goes with --engine");
    if (!options.lose.empty() && options.lose_at == 0)
        throw CLI::ValidationError("--lose", "goes with --lose-at");
    const bool is_exact = options.codec == "exact" && options.schedule.empty() &&
                          options.level_codecs.empty() && options.down_codec.empty();
    if (options.reproducible && !is_exact)
        throw CLI::ValidationError("--reproducible", "goes with --codec exact");
    if (options.uses_gradcoll()) return;
    if (options.engine)
        throw CLI::ValidationError("--engine",
                                   "has no meaning with --codec mpi; leave one of them out");
    const std::pair<const char*, const std::string&> settings[] = {
        {"--schedule", options.schedule},
        {"--feedback", options.feedback},
        {"--level-codecs", options.level_codecs},
        {"--down-codec", options.down_codec},
        {"--min-bytes", options.min_bytes}};
    for (const auto& [name, value] : settings)
        if (!value.empty())
            throw CLI::ValidationError(name,
                                       "has no meaning with --codec mpi; leave one of them out");
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
    ParsedOptions parsed;
    CLI::App app(
        "Trains a 784-256-128-10 perceptron on Fashion-MNIST, data parallel; gradients are summed "
        "by Gradcoll.",
        "train_fashion");
    add_sum_options(app, parsed.options);
    add_survival_options(app, parsed.options);
    add_training_options(app, parsed.options);
    add_output_options(app, parsed.options);
    try {
        app.parse(argc, argv);
        check_combination(parsed.options);
    } catch (const CLI::ParseError& error) {
        std::ostringstream text;
        const bool failed = app.exit(error, text, text) != 0;
        parsed.run = false;
        parsed.exit_code = failed ? 2 : 0;
        parsed.text = text.str();
    }
    return parsed;
}

}  // namespace train
