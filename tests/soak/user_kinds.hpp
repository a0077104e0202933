// tests/soak/user_kinds.hpp - kinds without kernels here: pairs, derived types, and user ops, one
// of which does not commute.
#pragma once

#include "soak/kinds.hpp"

namespace gradcoll::soak {

/// ExtremeKind is MPI_2INT under MPI_MINLOC or MPI_MAXLOC, with many equal values.
class ExtremeKind : public Kind {
  public:
    ExtremeKind(std::string name, MPI_Op op) : Kind(std::move(name), MPI_2INT, op, 8) {}
    void fill(void* out, const Section& section, int rank) const override;
    std::string check(const void* out, const Section& section, int ranks, Loss loss) const override;
    std::string check_copy(const void* out, const Section& section, int rank,
                           Loss loss) const override;
};

/// CompositionKind holds maps x -> a x + b over 32 bits as two numbers, composed in the order of
/// ranks; if `apart`, a gap of as many bytes follows each, which stays untouched.
class CompositionKind : public Kind {
  public:
    CompositionKind(bool apart, MPI_Datatype type, MPI_Op op);
    bool is_plain() const override { return stride_ == 2; }
    void fill(void* out, const Section& section, int rank) const override;
    std::string check(const void* out, const Section& section, int ranks, Loss loss) const override;
    std::string check_copy(const void* out, const Section& section, int rank,
                           Loss loss) const override;

  private:
    std::size_t stride_;
};

MPI_Datatype make_map_type(bool apart);
/// Makes composition, which does not commute.
MPI_Op make_composition();
/// Makes the sum of MPI_INT as a user op.
MPI_Op make_user_sum();

}  // namespace gradcoll::soak
