#include "mpi/element_types.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/lifetime.hpp"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace gradcoll {
namespace {

/// A Name is one that may stand for a 16-bit float; `answer` is 0 until it was asked.
struct Name {
    explicit Name(MPI_Datatype type) : datatype(type) {}
    MPI_Datatype datatype;
    std::atomic<int> answer{0};
};
constexpr int not_a_half = 1, is_f16 = 2, is_bf16 = 3;

/// Returns whether the library may be asked. MPICH 4.0.2 has the types, and ends the process in
/// their sums; 3.4.3 and 4.3.2 on do not, and what lies between has not been tried.
bool may_be_asked() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    PMPI_Get_library_version(text, &length);
    const std::string_view version(text, static_cast<std::size_t>(length));
    return std::ranges::none_of(
        std::initializer_list<std::string_view>{"4.0", "4.1", "4.2"}, [&](std::string_view each) {
            return version.starts_with("MPICH Version:\t" + std::string(each));
        });
}

std::vector<MPI_Datatype> handles() {
    if (!may_be_asked()) return {};
    return {
#ifdef MPICH_VERSION
        // These are C_FLOAT16, REAL2 and BFLOAT16 of MPICH 5, and BFLOAT16 of Intel MPI. A program
        // may be compiled with another header than this library.
        0x4c000246,
        0x4c000226,
        0x4c00024c,
        0x4c000247,
#else
#ifdef MPIX_SHORT_FLOAT
        MPIX_SHORT_FLOAT,
#endif
#ifdef MPIX_C_FLOAT16
        MPIX_C_FLOAT16,
#endif
#ifdef MPIX_BFLOAT16
        MPIX_BFLOAT16,
#endif
#ifdef MPI_REAL2
        MPI_REAL2,
#endif
#endif
    };
}

/// Adds 0x3f80 to itself, which is 1 + 1 in bfloat16, and 1.875 + 1.875 in IEEE's format. Whether
/// the type and its sum exist is asked first by calls that raise their errors on a communicator of
/// our own: to add in place has none.
int ask(MPI_Datatype datatype) {
    constexpr std::uint16_t sum_of_f16 = 0x4380, sum_of_bf16 = 0x4000;
    constexpr int element_bytes = 2;
    const std::uint16_t value = 0x3f80;
    std::uint16_t sum = 0;
    int bytes = 0;
    const auto comm = make_own_comm();
    if (!comm) return not_a_half;
    if (PMPI_Pack_size(1, datatype, comm->handle, &bytes) != MPI_SUCCESS ||
        bytes != element_bytes ||
        PMPI_Allreduce(&value, &sum, 1, datatype, MPI_SUM, comm->handle) != MPI_SUCCESS)
        return not_a_half;
    sum = value;
    if (PMPI_Reduce_local(&value, &sum, 1, datatype, MPI_SUM) != MPI_SUCCESS) return not_a_half;
    if (sum == sum_of_f16) return is_f16;
    return sum == sum_of_bf16 ? is_bf16 : not_a_half;
}

/// Asks at the first use alone: a library may lack what nobody uses.
int answer_of(Name& name) {
    int answer = name.answer.load(std::memory_order_acquire);
    if (answer != 0) return answer;
    answer = ask(name.datatype);
    name.answer.store(answer, std::memory_order_release);
    return answer;
}

}  // namespace

std::optional<ElementType> half_type(MPI_Datatype datatype) {
    static std::vector<Name>& names = *[] {
        const auto all = handles();
        return new std::vector<Name>(all.begin(), all.end());
    }();
    const auto found = std::ranges::find(names, datatype, &Name::datatype);
    if (found == names.end() || datatype == MPI_DATATYPE_NULL) return std::nullopt;
    switch (answer_of(*found)) {
        case is_f16:
            return ElementType::f16;
        case is_bf16:
            return ElementType::bf16;
        default:
            return std::nullopt;
    }
}

}  // namespace gradcoll
