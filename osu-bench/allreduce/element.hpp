// element.hpp - the element types that can be benchmarked, and their values as doubles; and the
// data of the vectors that are summed. A codec's quality depends on data, so it must be chosen
// knowingly.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
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

/// Returns whether the name is one of these: "gradient" (Laplace, with a scale of 10^-4 to 10^-1
/// for every 4096 elements that is the same on all ranks, as layers have), "normal" (0, 1),
/// "uniform" (-1, 1), "laplace" (0, 1), "t3" (Student's t, 3 degrees of freedom: heavy tails, as
/// gradients have), "constant" (1.0) or "file:PATH" (raw elements, read repeatedly). For int32 the
/// values are multiplied by 100 and rounded.
bool is_data_name(std::string_view name);
std::string data_names();
/// Returns the PATH of "file:PATH", empty for the others.
std::string data_file(std::string_view name);

/// Returns `count` elements as raw bytes; the same for one seed and rank every time, different on
/// every rank. A file is read from element rank * count on. Throws std::runtime_error naming the
/// file if it cannot be read or holds no element.
std::vector<std::byte> generate(std::string_view name, const Element& element, std::size_t count,
                                std::uint64_t seed, int rank);

}  // namespace gradcoll::bench
