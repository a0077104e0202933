// train_fashion/main.cpp - data-parallel training on Fashion-MNIST whose gradients are summed by
// Gradcoll. Exit code: 0; 1 if ranks end with different weights, a checked sum is wrong or a sum
// failed; 2 for bad options or data.
#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

#include "idx.hpp"
#include "options.hpp"
#include "report.hpp"
#include "trainer.hpp"

namespace {

using namespace train;

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

/// MpiSession runs MPI during main(), with a communicator whose errors are returned.
class MpiSession {
  public:
    /// `threads` says whether those of an engine may call MPI.
    MpiSession(int* argc, char*** argv, bool threads) {
        int provided = 0;
        MPI_Init_thread(argc, argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
        MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &ranks_);
    }
    ~MpiSession() {
        MPI_Comm_free(&comm_);
        MPI_Finalize();
    }
    MpiSession(const MpiSession&) = delete;
    MpiSession& operator=(const MpiSession&) = delete;

    MPI_Comm comm() const { return comm_; }
    int rank() const { return rank_; }
    int ranks() const { return ranks_; }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0;
    int ranks_ = 1;
};

void print_error(const std::string& text) {
    fmt::print(stderr, "train_fashion: {}\n", text);
}

/// Returns true if any rank has a `problem`; the first of these ranks prints its own. Collective.
bool any_problem(const std::string& problem, const MpiSession& mpi) {
    const int mine = problem.empty() ? mpi.ranks() : mpi.rank();
    int first = mine;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, mpi.comm());
    if (first == mpi.rank()) print_error(problem);
    return first < mpi.ranks();
}

/// Files are what one rank can fail to open although another one can.
struct Files {
    Dataset train;
    Dataset test;
    std::optional<Report> report;

    /// Returns an empty text, or why it failed.
    std::string open(const Options& options, const MpiSession& mpi) {
        try {
            train = load_dataset(options.data, "train");
            test = load_dataset(options.data, "t10k");
            report.emplace(options, mpi.rank(), mpi.ranks());
        } catch (const FileError& error) {
            return error.what();
        }
        if (train.features != test.features)
            return fmt::format("{}: training pictures have {} pixels, test pictures {}",
                               options.data, train.features, test.features);
        if (options.batch > train.count)
            return fmt::format("--batch {}: the training set has {} pictures", options.batch,
                               train.count);
        return {};
    }
};

/// Ends the process without MPI_Finalize, which may wait for the dead. Who ends is dead to the
/// others, so these get time to come here.
[[noreturn]] void leave(int code) {
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    std::_Exit(code);
}

int train_network(const Options& options, Files& files, const MpiSession& mpi) {
    try {
        Trainer trainer(options, {files.train, files.test}, mpi.comm());
        const int code = trainer.run(*files.report) ? 0 : exit_failed;
        if (trainer.has_lost_ranks()) {
            files.report.reset();
            leave(code);
        }
        return code;
    } catch (const SettingsError& error) {
        if (mpi.rank() == 0) print_error(error.what());
        return exit_usage;
    } catch (const SyncError& error) {
        print_error(fmt::format("rank {}: {}", mpi.rank(), error.what()));
        MPI_Abort(mpi.comm(), exit_failed);  // the others wait for this rank
        return exit_failed;
    }
}

}  // namespace

int main(int argc, char** argv) {
    const ParsedOptions parsed = parse_options(argc, argv);
    // With several hosts survivors can agree only if one thread at a time is inside MPI.
    const MpiSession mpi(&argc, &argv, parsed.options.engine && !parsed.options.survive);
    if (!parsed.run) {
        if (mpi.rank() == 0) fmt::print(parsed.exit_code == 0 ? stdout : stderr, "{}", parsed.text);
        return parsed.exit_code;
    }
    Files files;
    if (any_problem(files.open(parsed.options, mpi), mpi)) return exit_usage;
    return train_network(parsed.options, files, mpi);
}
