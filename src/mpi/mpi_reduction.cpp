#include "mpi/mpi_reduction.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <iterator>

#include "mpi/element_types.hpp"
#include "mpi/signature.hpp"

namespace gradcoll {
namespace {

// ---- which

/// Ops are numbered by ReduceOp, and by these numbers where ReduceOp has none.
enum : std::uint32_t { minloc = 16, maxloc, of_program, of_windows };

std::uint32_t op_number(MPI_Op op) {
    if (const auto known = known_op(op)) return static_cast<std::uint32_t>(*known);
    if (op == MPI_MINLOC) return minloc;
    if (op == MPI_MAXLOC) return maxloc;
#ifdef MPIX_EQUAL
    if (op == MPIX_EQUAL) return of_windows;
#endif
    return op == MPI_REPLACE || op == MPI_NO_OP ? of_windows : of_program;
}

enum class Holds : std::uint8_t { pair, number, complex, logical };

bool is_defined(std::uint32_t op, Holds holds) {
    const auto is = [op](ReduceOp known) { return op == static_cast<std::uint32_t>(known); };
    switch (holds) {
        case Holds::pair:
            return op == minloc || op == maxloc;
        case Holds::number:
            return is(ReduceOp::sum) || is(ReduceOp::prod) || is(ReduceOp::min) ||
                   is(ReduceOp::max);
        case Holds::complex:
            return is(ReduceOp::sum) || is(ReduceOp::prod);
        case Holds::logical:
            return is(ReduceOp::land) || is(ReduceOp::lor) || is(ReduceOp::lxor);
    }
    return false;
}

/// An OperandRow is a named type; `number` is alike for a type of C and one of Fortran that hold
/// the same.
struct OperandRow {
    MPI_Datatype datatype;
    Holds holds;
    std::uint32_t number;
};

/// Returns the row of a named type whose predefined ops have no kernels, or not all of them; null
/// for others. The optional types of Fortran are left out: MPI libraries have names but not always
/// ops for them.
const OperandRow* row_of(MPI_Datatype datatype) {
    static const OperandRow rows[] = {
        {MPI_FLOAT_INT, Holds::pair, 0},
        {MPI_DOUBLE_INT, Holds::pair, 1},
        {MPI_LONG_INT, Holds::pair, 2},
        {MPI_2INT, Holds::pair, 3},
        {MPI_2INTEGER, Holds::pair, 3},
        {MPI_SHORT_INT, Holds::pair, 4},
        {MPI_LONG_DOUBLE_INT, Holds::pair, 5},
        {MPI_2REAL, Holds::pair, 6},
        {MPI_2DOUBLE_PRECISION, Holds::pair, 7},
        {MPI_LONG_DOUBLE, Holds::number, 8},
        {MPI_C_FLOAT_COMPLEX, Holds::complex, 9},
        {MPI_C_DOUBLE_COMPLEX, Holds::complex, 9},
        {MPI_C_LONG_DOUBLE_COMPLEX, Holds::complex, 9},
        {MPI_CXX_FLOAT_COMPLEX, Holds::complex, 9},
        {MPI_CXX_DOUBLE_COMPLEX, Holds::complex, 9},
        {MPI_CXX_LONG_DOUBLE_COMPLEX, Holds::complex, 9},
        {MPI_COMPLEX, Holds::complex, 9},
        {MPI_DOUBLE_COMPLEX, Holds::complex, 9},
        {MPI_LOGICAL, Holds::logical, 10},
    };
    const auto* const found =
        std::ranges::find_if(rows, [&](const OperandRow& row) { return row.datatype == datatype; });
    return found != std::end(rows) ? found : nullptr;
}

/// Returns the bytes from one element of a named type to the next, padding included.
std::size_t extent_of_named(MPI_Datatype datatype) {
    MPI_Aint lower_bound = 0, extent = 0;
    PMPI_Type_get_extent(datatype, &lower_bound, &extent);
    return extent > 0 ? static_cast<std::size_t>(extent) : 0;
}

/// Returns the elements for an op of the program. Only derived types, and named ones with padding,
/// are marked; a mark spares the questions.
MpiElements elements_for_op_of_program(MPI_Datatype datatype) {
    if (const MarkedType* const mark = mark_of(datatype); mark != nullptr)
        return {PassReason::none, mark->element_bytes, of_program, false, !mark->is_in_order};
    const auto bytes = data_bytes(datatype);
    if (!bytes || *bytes == 0) return {};
    if (*bytes > most_mpi_element_bytes) return {PassReason::large_elements};
    const bool plain = is_plain(datatype);
    return {PassReason::none, *bytes, of_program, plain, !plain};
}

// ---- how

/// Returns the reduction that the functions below are given as context.
const MpiReduction& reduction_in(const void* context) {
    return *static_cast<const MpiReduction*>(context);
}

/// Computes inout = in op inout.
void combine(const MpiReduction& with, const std::byte* in, std::byte* inout, std::size_t count) {
    while (count > 0) {
        const int part = static_cast<int>(std::min<std::size_t>(count, INT_MAX));
        PMPI_Reduce_local(in, inout, part, with.datatype, with.op);
        const std::size_t bytes = static_cast<std::size_t>(part) * with.element_bytes;
        in += bytes;
        inout += bytes;
        count -= static_cast<std::size_t>(part);
    }
}

struct Operands {
    const void* const* sources = nullptr;
    std::size_t source_count = 0;

    const std::byte* at(std::size_t source, std::size_t offset) const {
        return static_cast<const std::byte*>(sources[source]) + offset;
    }
    const std::byte* last(std::size_t offset) const { return at(source_count - 1, offset); }
};

/// Copies the last operand to `out`, unless it is there, and combines the others into it.
void combine_onto_last(const MpiReduction& with, const Operands& operands, std::size_t offset,
                       std::byte* out, std::size_t count) {
    const std::byte* const last = operands.last(offset);
    if (last != out) std::memcpy(out, last, count * with.element_bytes);
    for (std::size_t i = operands.source_count - 1; i > 0; --i)
        combine(with, operands.at(i - 1, offset), out, count);
}

/// Combines by way of scratch memory, if `out` is one of the operands that must not be overwritten
/// before they are used.
void combine_through_scratch(const MpiReduction& with, const Operands& operands, std::byte* out,
                             std::size_t count) {
    alignas(64) std::byte scratch[most_mpi_element_bytes];
    const std::size_t most = sizeof scratch / with.element_bytes;
    for (std::size_t done = 0; done < count; done += most) {
        const std::size_t offset = done * with.element_bytes;
        const std::size_t elems = std::min(most, count - done);
        combine_onto_last(with, operands, offset, scratch, elems);
        std::memcpy(out + offset, scratch, elems * with.element_bytes);
    }
}

/// Combines packed operands. Each is unpacked for the op, and lies as its datatype says only there.
/// Elements have no more bytes than pack() can count.
void combine_packed(const MpiReduction& with, const Operands& operands, std::byte* out,
                    std::size_t count) {
    const UnpackedRoom& room = *with.room;
    for (std::size_t done = 0; done < count; done += room.most_elements) {
        const int part = static_cast<int>(std::min(room.most_elements, count - done));
        const std::size_t offset = done * with.element_bytes;
        (void)unpack(operands.last(offset), part, with.datatype, room.inout, room.comm);
        for (std::size_t i = operands.source_count - 1; i > 0; --i) {
            (void)unpack(operands.at(i - 1, offset), part, with.datatype, room.in, room.comm);
            PMPI_Reduce_local(room.in, room.inout, part, with.datatype, with.op);
        }
        (void)pack(room.inout, part, with.datatype, out + offset, room.comm);
    }
}

void combine_many(const void* context, const void* const* sources, std::size_t source_count,
                  void* out, std::size_t count, bool) {
    if (count == 0) return;
    const Operands operands{sources, source_count};
    if (const MpiReduction& with = reduction_in(context); with.room != nullptr)
        return combine_packed(with, operands, static_cast<std::byte*>(out), count);
    const void* const* const others_end = sources + source_count - 1;
    auto* const to = static_cast<std::byte*>(out);
    if (std::find(sources, others_end, out) == others_end)
        combine_onto_last(reduction_in(context), operands, 0, to, count);
    else
        combine_through_scratch(reduction_in(context), operands, to, count);
}

void combine_two(const void* context, const void* a, const void* b, void* out, std::size_t count) {
    const void* const sources[] = {a, b};
    combine_many(context, sources, 2, out, count, false);
}

}  // namespace

bool is_predefined(MPI_Op op) {
    return op_number(op) != of_program;
}

MpiElements elements_for_mpi(MPI_Op op, MPI_Datatype datatype) {
    const std::uint32_t number = op_number(op);
    if (number == of_program) return elements_for_op_of_program(datatype);
    const OperandRow* const row = row_of(datatype);
    if (row == nullptr || !is_defined(number, row->holds)) return {};
    return {PassReason::none, extent_of_named(datatype), row->number << 8U | number, true, false};
}

Reducer mpi_reducer(std::size_t element_bytes) {
    return {combine_two, nullptr, element_bytes, combine_many};
}

}  // namespace gradcoll
