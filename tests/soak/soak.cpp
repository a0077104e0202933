// tests/soak/soak.cpp - makes random collective calls, each compared with a reference, under
// mpirun:
//   soak --calls 100000 --seed 1 [--codec 2:4]
// It ends with 0 and one line of counts, or at the first wrong result with the seed and the call.
#include <fmt/format.h>
#include <gradcoll.h>
#include <unistd.h>

#include <memory>

#include "command_line/option_parser.hpp"
#include "soak/call.hpp"
#include "soak/messages.hpp"

namespace gradcoll::soak {
namespace {

struct Options {
    std::uint64_t calls = 100000;
    std::uint64_t seed = 1;
    std::string codec = "exact";
};

int world_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

class Soak {
  public:
    explicit Soak(const Options& options)
        : options_(options),
          dice_(options.seed),
          own_(options.seed + 1000003 * static_cast<std::uint64_t>(world_rank() + 1)),
          comms_(dice_, options.codec) {}

    /// Runs batches: calls back to back, with others started and finished in between, then checks.
    void run() {
        while (number_ < options_.calls) {
            change_something();
            messages_.start(comms_, dice_);
            for (std::size_t left = 1 + dice_.below(8); left > 0; --left) start_one();
            while (!started_.empty() && (started_.size() > 5 || dice_.once_in(3)))
                finish_one(dice_.below(started_.size()));
            messages_.finish();
            check_finished();
            renew_finished();
        }
        while (!started_.empty()) finish_one(0);
        check_finished();
        finished_.clear();
    }

    Counts counts() { return comms_.counts(); }
    std::uint64_t number() const { return number_; }

  private:
    using Calls = std::vector<std::unique_ptr<Call>>;

    void change_something() {
        const bool remakes = dice_.once_in(100);
        if (!remakes && !dice_.once_in(60)) return;
        const std::size_t slot =
            remakes ? 1 + dice_.below(Comms::slots - 1) : dice_.below(Comms::slots);
        for (std::size_t i = started_.size(); i > 0; --i)
            if (started_[i - 1]->roll().slot == slot) finish_one(i - 1);
        check_finished();
        finished_.clear();
        if (remakes)
            comms_.remake(slot, dice_);
        else
            comms_.set_anew(slot, dice_);
    }

    void start_one() {
        const CallRoll roll = CallRoll::make(number_++, options_.codec != "exact", kinds_, dice_);
        auto call = std::make_unique<Call>(roll, comms_[roll.slot], kinds_[roll.kind], own_);
        if (own_.once_in(64)) usleep(static_cast<useconds_t>(own_.below(500)));
        call->start();
        comms_[roll.slot].attached = true;
        (call->is_started() ? started_ : finished_).push_back(std::move(call));
    }

    void finish_one(std::size_t index) {
        started_[index]->finish(dice_.once_in(3));
        finished_.push_back(std::move(started_[index]));
        started_.erase(started_.begin() + static_cast<std::ptrdiff_t>(index));
    }

    void check_finished() {
        check_equal_on_all_ranks();
        for (const auto& call : finished_)
            if (const std::string wrong = call->check(); !wrong.empty()) fail(*call, wrong);
    }

    /// Frees the finished calls, except some of the persistent ones, which start with other values.
    void renew_finished() {
        for (auto& call : finished_) {
            if (call->roll().form != Form::persistent || dice_.once_in(3)) continue;
            call->renew(number_++, dice_.bits());
            call->start();
            started_.push_back(std::move(call));
        }
        finished_.clear();
    }

    void check_equal_on_all_ranks() {
        std::vector<std::uint64_t> mine;
        for (const auto& call : finished_) mine.push_back(call->hash());
        int size = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        std::vector<std::uint64_t> all(mine.size() * static_cast<std::size_t>(size));
        const int count = static_cast<int>(mine.size());
        MPI_Allgather(mine.data(), count, MPI_UINT64_T, all.data(), count, MPI_UINT64_T,
                      MPI_COMM_WORLD);
        for (std::size_t i = 0; i < mine.size(); ++i)
            for (const int rank : comms_[finished_[i]->roll().slot].world_ranks)
                if (all[static_cast<std::size_t>(rank) * mine.size() + i] != mine[i])
                    fail(*finished_[i],
                         fmt::format("rank {} of the world has another result", rank));
    }

    [[noreturn]] void fail(const Call& call, const std::string& wrong) const {
        fmt::print(stderr, "soak --seed {} --codec {}, rank {}: {}: {}\n", options_.seed,
                   options_.codec, world_rank(), call.describe(), wrong);
        MPI_Abort(MPI_COMM_WORLD, 1);
        std::abort();
    }

    Options options_;
    Dice dice_, own_;
    Kinds kinds_;
    Comms comms_;
    Messages messages_;
    Calls started_, finished_;
    std::uint64_t number_ = 0;
};

int run(const Options& options) {
    Soak soak(options);
    soak.run();
    const Counts counts = soak.counts();
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (world_rank() == 0)
        fmt::print(
            "soak: {} calls, seed {}, codec {}, {} ranks: rank 0 had {} on the tree, {} of "
            "them compressed, and {} passed\n",
            soak.number(), options.seed, options.codec, size, counts.tree, counts.compressed,
            counts.passed);
    const bool as_planned = size == 1 || options.calls < 1000 ||
                            (counts.tree > options.calls / 10 && counts.passed > 0 &&
                             (counts.compressed > 0) == (options.codec != "exact"));
    if (!as_planned) fmt::print(stderr, "soak: too few calls went one of the ways\n");
    return as_planned ? 0 : 1;
}

}  // namespace
}  // namespace gradcoll::soak

int main(int argc, char** argv) {
    gradcoll::soak::Options options;
    gradcoll::OptionParser app("Random collective calls, each compared with a reference", "soak");
    app.add_option("--calls", options.calls, "how many")->capture_default_str();
    app.add_option("--seed", options.seed, "what is rolled")->capture_default_str();
    app.add_option("--codec", options.codec, "of all communicators")->capture_default_str();
    if (const auto status = app.exit_status(argc, argv)) return *status;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    const int code = gradcoll::soak::run(options);
    MPI_Finalize();
    return code;
}
