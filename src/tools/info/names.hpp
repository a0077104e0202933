// info/names.hpp - finds MPI's datatypes and ops by the names that people write.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gradcoll::info {

struct TypeName {
    std::string_view name;  ///< as plain_name() returns it: "float"
    std::size_t bytes;
    MPI_Datatype (*datatype)();  ///< may be called while MPI runs
};
struct OpName {
    std::string_view name;  ///< "sum"
    MPI_Op (*op)();
};

std::span<const TypeName> type_names();
std::span<const OpName> op_names();

/// Returns "unsigned_long", "float16" for "MPI_Unsigned_Long", "GC_FLOAT16".
std::string plain_name(std::string_view name);

/// Returns null if nothing has this name.
const TypeName* find_type(std::string_view name);
const OpName* find_op(std::string_view name);

}  // namespace gradcoll::info
