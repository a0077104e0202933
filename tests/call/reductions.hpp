// tests/call/reductions.hpp - reductions beside those of plain numbers: complex numbers,
// logical values, pairs, long doubles, ops of the program on types of its own. Their values give
// the same whatever the brackets.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "api/api_support.hpp"

namespace gradcoll::test {

/// Mask has a bit for each byte of an element, set if the byte means nothing, as padding does.
using Mask = std::vector<bool>;

struct Reduction {
    std::string name;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    std::size_t element_bytes = 0;
    std::function<void(std::byte* to, std::uint64_t bits)> put = {};
    Mask padding = {};
    bool has_kernel = false;  ///< without one it needs shared memory

    std::vector<std::byte> values(int rank, std::size_t count) const;
    /// Returns the same elements, without their padding.
    std::vector<std::byte> meaning_of(const std::vector<std::byte>& values) const;
};

/// Reductions holds all of them; its types and ops live as long as it does.
class Reductions {
  public:
    Reductions();
    ~Reductions();
    Reductions(const Reductions&) = delete;
    Reductions& operator=(const Reductions&) = delete;

    const std::vector<Reduction>& all() const { return all_; }

  private:
    void add_complex();
    void add_logical();
    void add_pairs();
    void add_long_double();
    void add_of_the_program();
    MPI_Datatype own(MPI_Datatype type);
    MPI_Op own(MPI_User_function* function, bool commutes);

    std::vector<Reduction> all_;
    std::vector<MPI_Datatype> types_;
    std::vector<MPI_Op> ops_;
};

/// multiply_matrices() multiplies 2 x 2 matrices of std::uint64_t, stored one behind the other; the
/// product does not commute.
inline constexpr std::size_t matrix_bytes = 4 * sizeof(std::uint64_t);
void multiply_matrices(void* in, void* inout, int* count, MPI_Datatype* type);
/// Composes maps x -> a x + b over 8 bits with a tag behind them: 3 bytes, so that nothing is
/// aligned; `in` first. The tag is that of the last.
void compose_maps(void* in, void* inout, int* count, MPI_Datatype* type);

}  // namespace gradcoll::test
