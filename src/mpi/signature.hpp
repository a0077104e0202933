// mpi/signature.hpp - what derived datatypes are made of, and their data in one piece; and what was
// found out about a derived datatype of the program, kept on it: its handle may be another's next
// time, and the mark goes with the datatype.
#pragma once

#include <cstddef>
#include <optional>

#include "base/mpi/mpi.hpp"
#include "mpi/element_types.hpp"

namespace gradcoll {

/// Returns whether the type is one of MPI's own, not made of others: it has a name, or is one of
/// MPI_Type_create_f90_real and its kin. Nobody frees it.
bool is_named(MPI_Datatype datatype);

/// Returns the one element type that all of a datatype's basic elements have; nothing if they
/// differ or are not known. It depends on the type's signature only, which MPI makes equal on all
/// ranks of a collective, however each rank describes its memory.
std::optional<KnownType> uniform_element(MPI_Datatype datatype);

/// Returns whether `count` elements of the type lie in memory as `count * size` bytes without gaps,
/// in order, from the address given.
bool is_plain(MPI_Datatype datatype);

/// Returns whether elements of a committed type lie in memory as pack() would put them: one behind
/// the other from the address given, their data in the order of the signature. Types of one
/// signature may differ in this. `comm` is private. Errors: those of unpack().
Result<bool> lies_in_order(MPI_Datatype datatype, MPI_Comm comm);

/// Returns the bytes of data in one element. Errors: transport.
Result<std::size_t> data_bytes(MPI_Datatype datatype);
/// Returns the same for one of MPI's own types, whose handles stay what they are; 0 for other types
/// and for those with gaps. Each thread remembers a few.
std::size_t bytes_of_named(MPI_Datatype datatype);

/// Copies `count` elements between memory as the type describes it and one piece of count *
/// data_bytes() bytes. Errors: transport; invalid_type if one element is larger than MPI_Pack can
/// count.
Status pack(const void* from, MPI_Count count, MPI_Datatype datatype, std::byte* to, MPI_Comm comm);
Status unpack(const std::byte* from, MPI_Count count, MPI_Datatype datatype, void* to,
              MPI_Comm comm);

/// A MarkedType is what was found out about a committed datatype.
struct MarkedType {
    std::size_t element_bytes = 0;  ///< bytes of data in one element
    bool is_in_order = false;       ///< what lies_in_order() says (signature.hpp)
};

/// Marks the datatype; a copy of it has no mark. If MPI refuses, there is none.
void mark_type(MPI_Datatype datatype, const MarkedType& mark);

/// Returns the mark of any valid datatype; null if it has none. The mark lives as long as the
/// datatype. Thread safe.
const MarkedType* mark_of(MPI_Datatype datatype) noexcept;

}  // namespace gradcoll
