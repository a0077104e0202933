// tests/soak/kinds.hpp - the values of random calls: for every datatype and op the input of each
// rank, and a check that the output is their reduction. Values follow from a key, so that every
// rank knows the input of the others without messages.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gradcoll::soak {

/// A Section is the elements [first, first + count) of a vector that `ranks` ranks make from `key`.
struct Section {
    std::uint64_t key = 0;
    std::size_t first = 0;
    std::size_t count = 0;
};

/// Loss says what a codec may have done to the values.
enum class Loss {
    none,
    thinned,          ///< every contribution was kept or dropped
    with_carry_over,  ///< what earlier calls dropped may have been added, too
};

/// A Kind is a datatype with an op.
class Kind {
  public:
    Kind(std::string name, MPI_Datatype type, MPI_Op op, std::size_t element_bytes)
        : name_(std::move(name)), type_(type), op_(op), element_bytes_(element_bytes) {}
    virtual ~Kind() = default;
    Kind(const Kind&) = delete;
    Kind& operator=(const Kind&) = delete;

    const std::string& name() const { return name_; }
    MPI_Datatype type() const { return type_; }
    MPI_Op op() const { return op_; }
    std::size_t element_bytes() const { return element_bytes_; }
    /// Return whether codecs know the datatype, and whether they and residuals support the op, too.
    virtual bool is_floating() const { return false; }
    virtual bool is_floating_sum() const { return false; }
    /// Returns whether its bytes may be gathered as they are: there are no gaps between elements.
    virtual bool is_plain() const { return true; }

    /// Writes the input of `rank`.
    virtual void fill(void* out, const Section& section, int rank) const = 0;
    /// Returns "" if `out` is the reduction over `ranks` ranks, else names the first element that
    /// is not.
    virtual std::string check(const void* out, const Section& section, int ranks,
                              Loss loss) const = 0;
    /// Returns "" if `out` is the input of `rank`.
    virtual std::string check_copy(const void* out, const Section& section, int rank,
                                   Loss loss) const = 0;

  private:
    std::string name_;
    MPI_Datatype type_;
    MPI_Op op_;
    std::size_t element_bytes_;
};

/// Kinds are all datatypes and ops that the tree serves, and some that pass to the MPI library:
/// pairs, derived types, user ops that do and do not commute. Freed before MPI_Finalize.
class Kinds {
  public:
    Kinds();
    ~Kinds();
    Kinds(const Kinds&) = delete;
    Kinds& operator=(const Kinds&) = delete;

    std::size_t size() const { return kinds_.size(); }
    const Kind& operator[](std::size_t index) const { return *kinds_[index]; }

  private:
    void add_numbers();
    void add_of_users();

    std::vector<std::unique_ptr<Kind>> kinds_;
    std::vector<MPI_Datatype> types_;
    std::vector<MPI_Op> ops_;
};

/// Returns a value without pattern, the same for the same number in every run.
inline std::uint64_t scrambled(std::uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 29;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 32);
}
inline std::uint64_t bits_at(std::uint64_t key, int rank, std::size_t index) {
    return scrambled(key + static_cast<std::uint64_t>(rank) * 0x9e3779b97f4a7c15ULL + index);
}

}  // namespace gradcoll::soak
