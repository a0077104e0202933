// element.hpp - the element types that can be benchmarked, and their values as doubles.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gradcoll::bench {

struct Element {
    std::string_view name;  ///< as given to -T
    std::size_t bytes;
    /// Half the distance from 1 to the next value is the largest relative error of one addition. 0:
    /// exact.
    double unit_roundoff;
    MPI_Datatype (*datatype)();  ///< valid between MPI_Init and MPI_Finalize
    bool has_mpi_ops;            ///< false: MPI_SUM is not defined on it, the peer needs a user op
    /// They convert values[0, count) from the elements at `in`, or to the elements at `out`,
    /// rounded.
    void (*load)(const void* in, std::size_t count, double* values);
    void (*store)(const double* values, std::size_t count, void* out);
};

/// Returns null if there is no such type.
const Element* find_element(std::string_view name);
std::vector<std::string> element_names();

}  // namespace gradcoll::bench
