// gc_info/names.hpp - MPI's datatypes and ops by the names that people write.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gc_info {

struct TypeName {
    std::string_view name;  ///< as plain_name() gives it: "float"
    std::size_t bytes;
    MPI_Datatype (*datatype)();  ///< to be called while MPI runs
};
struct OpName {
    std::string_view name;  ///< "sum"
    MPI_Op (*op)();
};

std::span<const TypeName> type_names();
std::span<const OpName> op_names();

/// "MPI_Unsigned_Long", "GC_FLOAT16" -> "unsigned_long", "float16".
std::string plain_name(std::string_view name);

/// Null if nothing is called so.
const TypeName* find_type(std::string_view name);
const OpName* find_op(std::string_view name);

}  // namespace gc_info
