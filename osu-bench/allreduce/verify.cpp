// verify.cpp - compares with an fp64 reference, in blocks.
#include "verify.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace gradcoll::bench {
namespace {

constexpr std::size_t block_elems = std::size_t{1} << 16;

class Verifier {
  public:
    Verifier(const Claim& claim, MPI_Comm comm) : claim_(claim), comm_(comm) {
        MPI_Comm_size(comm, &ranks_);
    }

    void check_block(std::size_t begin, std::size_t count);
    Verdict verdict() const;

  private:
    const std::byte* at(const void* base, std::size_t element) const {
        return static_cast<const std::byte*>(base) + element * claim_.element.bytes;
    }
    double allowed_error(double reference, double magnitude_sum) const;
    void load_result(std::size_t begin, std::size_t count);
    void compare_bits(std::size_t begin, std::size_t count);

    const Claim& claim_;
    MPI_Comm comm_;
    int ranks_ = 1;
    std::vector<double> reference_ = std::vector<double>(block_elems);
    std::vector<double> magnitude_ = std::vector<double>(block_elems);
    std::vector<double> result_ = std::vector<double>(block_elems);
    std::vector<std::byte> bits_of_root_;
    double max_abs_err_ = 0;
    double squared_error_ = 0;
    double squared_reference_ = 0;
    bool within_bound_ = true;
    bool differs_from_root_ = false;
};

void sum_up(std::vector<double>& values, std::size_t count, MPI_Op op, MPI_Comm comm) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(count), MPI_DOUBLE, op, comm);
}

// Returns the largest value of all ranks. MPI_MAX may drop a NaN, and an error that is not a number
// is the worst of all.
double worst_over_ranks(double value, MPI_Comm comm) {
    const double mine = std::isnan(value) ? HUGE_VAL : value;
    double worst = 0;
    MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE, MPI_MAX, comm);
    return worst;
}

// Returns the larger one; NaN is larger than all.
double worse(double a, double b) {
    return std::isnan(a) || a >= b ? a : b;
}

double Verifier::allowed_error(double reference, double magnitude_sum) const {
    if (!claim_.exact) {
        return std::numeric_limits<double>::max();
    }
    if (claim_.op == MPI_SUM) {
        return 2.0 * ranks_ * claim_.element.unit_roundoff * magnitude_sum;
    }
    if (claim_.op == MPI_PROD) {
        return 2.0 * ranks_ * claim_.element.unit_roundoff * std::abs(reference);
    }
    return 0;
}

void Verifier::load_result(std::size_t begin, std::size_t count) {
    if (claim_.mean != nullptr) {
        std::copy_n(claim_.mean + begin, count, result_.begin());
    } else {
        claim_.element.load(at(claim_.result, begin), count, result_.data());
    }
}

void Verifier::compare_bits(std::size_t begin, std::size_t count) {
    const std::size_t bytes = count * claim_.element.bytes;
    bits_of_root_.assign(at(claim_.result, begin), at(claim_.result, begin) + bytes);
    MPI_Bcast(bits_of_root_.data(), static_cast<int>(bytes), MPI_BYTE, 0, comm_);
    differs_from_root_ |= std::memcmp(bits_of_root_.data(), at(claim_.result, begin), bytes) != 0;
}

void Verifier::check_block(std::size_t begin, std::size_t count) {
    claim_.element.load(at(claim_.input, begin), count, reference_.data());
    std::transform(reference_.begin(), reference_.end(), magnitude_.begin(),
                   [](double x) { return std::abs(x); });
    sum_up(reference_, count, claim_.op, comm_);
    sum_up(magnitude_, count, MPI_SUM, comm_);
    load_result(begin, count);
    for (std::size_t i = 0; i < count; ++i) {
        const double error = std::abs(result_[i] - reference_[i]);
        within_bound_ &= error <= allowed_error(reference_[i], magnitude_[i]);
        max_abs_err_ = worse(max_abs_err_, error);
        squared_error_ += error * error;
        squared_reference_ += reference_[i] * reference_[i];
    }
    compare_bits(begin, count);
}

Verdict Verifier::verdict() const {
    Verdict verdict;
    const bool no_error = squared_error_ == 0;
    verdict.max_abs_err = worst_over_ranks(max_abs_err_, comm_);
    verdict.rel_l2_err =
        worst_over_ranks(no_error ? 0 : std::sqrt(squared_error_ / squared_reference_), comm_);
    const int counts[] = {differs_from_root_ ? 1 : 0, within_bound_ ? 0 : 1};
    int totals[] = {0, 0};
    MPI_Allreduce(counts, totals, 2, MPI_INT, MPI_SUM, comm_);
    verdict.wrong_ranks = totals[0];
    verdict.passed = totals[0] == 0 && totals[1] == 0;
    return verdict;
}

}  // namespace

Verdict verify(const Claim& claim, MPI_Comm comm) {
    Verifier verifier(claim, comm);
    for (std::size_t begin = 0; begin < claim.count; begin += block_elems) {
        verifier.check_block(begin, std::min(block_elems, claim.count - begin));
    }
    return verifier.verdict();
}

}  // namespace gradcoll::bench
