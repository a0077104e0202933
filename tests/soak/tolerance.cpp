// tests/soak/tolerance.cpp - makes random sums under GC_TOLERANCE, of numbers that are hard to add,
// under mpirun:
//   soak_tolerance --elements 100000000 --seed 1
// Every element of a result is compared with the exact sum: it is within the tolerance, or the call
// returns an error that says so, if no type of ours keeps it. It ends with 0 and one line of
// counts, or at the first broken promise with the seed and the call.
#include <fmt/format.h>
#include <gradcoll.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "command_line/option_parser.hpp"
#include "reduce/widen.hpp"
#include "soak/hard_numbers.hpp"

namespace gradcoll::soak {
namespace {

struct Options {
    std::uint64_t elements = 20'000'000;
    std::uint64_t seed = 1;
};

using Exact = __float128;

double distance(double got, Exact exact) {
    const Exact off = static_cast<Exact>(got) - exact;
    return static_cast<double>(off < 0 ? -off : off);
}

class ToleranceSoak {
  public:
    explicit ToleranceSoak(const Options& options) : options_(options), dice_(options.seed) {
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // while waiting
        new_comm();
    }
    ~ToleranceSoak() { MPI_Comm_free(&comm_); }
    ToleranceSoak(const ToleranceSoak&) = delete;
    ToleranceSoak& operator=(const ToleranceSoak&) = delete;

    void run() {
        while (elements_ < options_.elements) {
            if (dice_.once_in(20)) {
                MPI_Comm_free(&comm_);
                new_comm();
            }
            one_call();
        }
        if (rank_ == 0)
            fmt::print(
                "soak_tolerance: {} elements in {} calls, seed {}, {} ranks: {} calls compressed, "
                "{} refused\n",
                elements_, calls_, options_.seed, ranks_, compressed_, refused_);
    }

  private:
    void set(const char* key, const std::string& value) {
        if (GC_Comm_set_option(comm_, key, value.c_str()) != MPI_SUCCESS)
            fail(fmt::format("{}={} is refused", key, value));
    }

    void new_comm() {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
        MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
        if (dice_.once_in(3)) return;  // the memory of one host
        set("gc_topology", rolled_tree(dice_, ranks_));
        set("gc_tree_min_bytes", dice_.once_in(2) ? "0" : "64K");
        set("gc_compress_bytes", "0");
        set("gc_compress_if", "always");
    }

    std::string rolled_tolerance(double scale) {
        const double power = std::pow(10.0, 0.5 * static_cast<double>(dice_.below(16)) - 6);
        if (dice_.once_in(3)) return fmt::format("range={:.3g}", power);
        return fmt::format("abs={:.3g}", std::min(power * scale, 1e308));
    }

    void one_call() {
        const Element& kind = all_elements_.any_of(dice_);
        numbers_ = {.seed = dice_.bits(),
                    .kind = static_cast<int>(dice_.below(Numbers::kinds)),
                    .ranks = ranks_,
                    .scale = std::pow(10.0, static_cast<double>(dice_.below(7)) - 4),
                    .largest = largest_of(kind.type)};
        tolerance_ = rolled_tolerance(numbers_.kind == 7 ? largest_of(kind.type) : numbers_.scale);
        set("gc_tolerance", tolerance_);
        const std::size_t block = 1 + dice_.below(dice_.once_in(4) ? 100'000 : 3000);
        const std::size_t count = block * static_cast<std::size_t>(ranks_);
        const std::size_t bytes = element_bytes(kind.type);
        kind_ = &kind;
        input_.resize(count * bytes);
        for (std::size_t i = 0; i < count; ++i)
            kind.store(numbers_.of(rank_, i), &input_[i * bytes]);
        output_.assign(count * bytes, std::byte{0x55});
        const std::uint64_t compressed = stats().calls_compressed;
        form_ = static_cast<int>(dice_.below(4));
        const int code = call(static_cast<int>(count), static_cast<int>(block));
        compressed_ += stats().calls_compressed - compressed;
        refused_ += code != MPI_SUCCESS ? 1 : 0;
        check(code, block, form_ == 3 ? 0 : static_cast<std::size_t>(rank_) * block);
        elements_ += count;
        ++calls_;
    }

    int call(int count, int block) {
        const MPI_Datatype type = kind_->datatype;
        if (form_ == 3)
            return GC_Reduce_scatter_block(input_.data(), output_.data(), block, type, MPI_SUM,
                                           comm_);
        if (form_ == 2) {
            MPI_Request request = MPI_REQUEST_NULL;
            const int code =
                GC_Iallreduce(input_.data(), output_.data(), count, type, MPI_SUM, comm_, &request);
            return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        if (form_ == 1) {
            output_ = input_;
            return GC_Allreduce(MPI_IN_PLACE, output_.data(), count, type, MPI_SUM, comm_);
        }
        return GC_Allreduce(input_.data(), output_.data(), count, type, MPI_SUM, comm_);
    }

    /// Checks one block of the result, which is at `at` on this rank.
    void check(int code, std::size_t block, std::size_t at) {
        const std::size_t bytes = element_bytes(kind_->type);
        const std::size_t first = static_cast<std::size_t>(rank_) * block;
        Extremes mine;
        double farthest = 0, at_best = 0;
        for (std::size_t i = 0; i < block; ++i) {
            Exact sum = 0;
            double specials = 0;
            for (int rank = 0; rank < ranks_; ++rank) {
                const double value = kind_->as_element(numbers_.of(rank, first + i));
                if (std::isfinite(value)) {
                    sum += value;
                    mine.add(value);
                } else {
                    specials += value;
                }
            }
            const double got = kind_->load(&output_[(at + i) * bytes]);
            const double nearest = kind_->as_element(static_cast<double>(sum));
            const bool is_special = specials != 0;  // includes NaN
            if (is_special || !std::isfinite(nearest)) {
                const double want = is_special ? specials : nearest;
                if (code == MPI_SUCCESS && got != want && !(std::isnan(got) && std::isnan(want)))
                    fail(fmt::format("element {}: {}, and {} is right", first + i, got, want));
                continue;
            }
            if (!std::isfinite(got) && code == MPI_SUCCESS)
                fail(fmt::format("element {}: {}, and {} is right", first + i, got, nearest));
            farthest = std::max(farthest, distance(got, sum));
            at_best = std::max(at_best, distance(nearest, sum));
        }
        Extremes all = mine;
        double off[] = {farthest, at_best, mine.highest, -mine.lowest};
        MPI_Allreduce(MPI_IN_PLACE, off, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        all.highest = off[2];
        all.lowest = -off[3];
        compare(code, off[0], off[1], all);
    }

    struct Extremes {
        double lowest = std::numeric_limits<double>::infinity();
        double highest = -std::numeric_limits<double>::infinity();
        void add(double value) {
            lowest = std::min(lowest, value);
            highest = std::max(highest, value);
        }
    };

    void compare(int code, double farthest, double at_best, const Extremes& inputs) {
        const double said = std::stod(tolerance_.substr(tolerance_.find('=') + 1));
        const bool has_range = inputs.highest >= inputs.lowest;
        const double range = has_range ? inputs.highest - inputs.lowest : 0;
        const double promised = tolerance_[0] == 'a' ? said : said * range;
        if (code == MPI_SUCCESS) {
            if (farthest > promised)
                fail(fmt::format("{} off, and {} is promised", farthest, promised));
            return;
        }
        // The next wider type may lose this where the nearest element alone would keep it.
        const ElementType adds = wider_type(kind_->type);
        const double magnitudes =
            has_range ? ranks_ * std::max(std::abs(inputs.lowest), std::abs(inputs.highest)) : 0;
        if (!(magnitudes + promised < largest_of(adds))) return;  // partial sums may leave it
        const double additions = 1.01 * (ranks_ - 1) * rounding_of(adds) * magnitudes;
        if (at_best + additions <= promised)
            fail(fmt::format("refused, and {} + {} would keep {}", at_best, additions, promised));
        if (farthest > at_best + additions)
            fail(fmt::format("refused, and {} off where {} is possible", farthest, at_best));
    }

    GC_Stats stats() {
        GC_Stats stats;
        GC_Comm_get_stats(comm_, &stats);
        return stats;
    }

    [[noreturn]] void fail(const std::string& wrong) const {
        fmt::print(stderr,
                   "soak_tolerance --seed {}, rank {} of {}: call {}, form {}, numbers {} times "
                   "{:g}, {} of {}, gc_tolerance={}: {}\n",
                   options_.seed, rank_, ranks_, calls_, form_, numbers_.kind, numbers_.scale,
                   input_.size(), kind_ != nullptr ? kind_->name : "nothing", tolerance_, wrong);
        MPI_Abort(MPI_COMM_WORLD, 1);
        std::abort();
    }

    Options options_;
    Dice dice_;
    Elements all_elements_;
    int ranks_ = 1, rank_ = 0;
    MPI_Comm comm_ = MPI_COMM_NULL;
    const Element* kind_ = nullptr;
    Numbers numbers_;
    std::string tolerance_;
    int form_ = 0;
    std::vector<std::byte> input_, output_;
    std::uint64_t elements_ = 0, calls_ = 0, compressed_ = 0, refused_ = 0;
};

}  // namespace
}  // namespace gradcoll::soak

int main(int argc, char** argv) {
    gradcoll::soak::Options options;
    gradcoll::OptionParser app("Random sums under GC_TOLERANCE, each compared with the exact sum",
                               "soak_tolerance");
    app.add_option("--elements", options.elements, "how many")->capture_default_str();
    app.add_option("--seed", options.seed, "what is rolled")->capture_default_str();
    if (const auto status = app.exit_status(argc, argv)) return *status;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    gradcoll::soak::ToleranceSoak(options).run();
    MPI_Finalize();
    return 0;
}
