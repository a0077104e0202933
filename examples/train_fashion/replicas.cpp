// train_fashion/replicas.cpp - hashes the weights and compares sums.
#include "replicas.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace train {
namespace {

constexpr double half_ulp = 0x1p-24;

std::vector<float> mpi_sum(std::vector<float> values, MPI_Comm comm) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_FLOAT, MPI_SUM,
                  comm);
    return values;
}

std::vector<float> magnitudes(std::vector<float> values) {
    for (float& value : values) value = std::fabs(value);
    return values;
}

double in_bounds(double difference, double bound) {
    if (difference == 0) return 0;
    return bound > 0 ? difference / bound : INFINITY;
}

SumCheck compare_sum(const Parameter& parameter, const std::vector<float>& addends, MPI_Comm comm) {
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    const std::vector<float> theirs = mpi_sum(addends, comm);
    const std::vector<float> sizes = mpi_sum(magnitudes(addends), comm);
    SumCheck check{parameter.name, theirs.size()};
    double error = 0;
    double norm = 0;
    for (std::size_t i = 0; i < theirs.size(); ++i) {
        const double reference = static_cast<double>(theirs[i]);
        const double difference = std::fabs(static_cast<double>(parameter.gradient[i]) - reference);
        error += difference * difference;
        norm += reference * reference;
        const double bound = 2.0 * (ranks - 1) * half_ulp * static_cast<double>(sizes[i]);
        check.order_bounds = std::max(check.order_bounds, in_bounds(difference, bound));
    }
    check.relative_l2 = std::sqrt(in_bounds(error, norm));
    check.identical_bits = same_on_all_ranks(hash_values(parameter.gradient), comm);
    return check;
}

}  // namespace

std::uint64_t hash_values(std::span<const float> values, std::uint64_t start) {
    std::uint64_t state = start;
    for (const float value : values)
        state = (state ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001b3ULL;
    return state;
}

std::uint64_t hash_weights(const std::vector<Parameter>& parameters) {
    std::uint64_t state = hash_values({});
    for (const Parameter& parameter : parameters) state = hash_values(parameter.values, state);
    return state;
}

bool same_on_all_ranks(std::uint64_t value, MPI_Comm comm) {
    std::uint64_t both[] = {value,
                            ~value};  // the minimum of ~x is the complement of the maximum of x
    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_UINT64_T, MPI_MIN, comm);
    return both[0] == ~both[1];
}

std::vector<SumCheck> SumChecker::compare(const std::vector<Parameter>& parameters,
                                          MPI_Comm comm) const {
    std::vector<SumCheck> checks;
    for (std::size_t i = 0; i < parameters.size(); ++i)
        checks.push_back(compare_sum(parameters[i], addends_[i], comm));
    return checks;
}

}  // namespace train
