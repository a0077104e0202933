#include "mpi/element_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <vector>

#include "mpi/lifetime.hpp"

namespace gradcoll {
namespace {

struct Row {
    MPI_Datatype datatype;
    KnownType known;
};

using Types = std::initializer_list<ElementType>;
constexpr Types floats = {ElementType::f32, ElementType::f64};
constexpr Types signed_integers = {ElementType::i8, ElementType::i16, ElementType::i32,
                                   ElementType::i64};
constexpr Types unsigned_integers = {ElementType::u8, ElementType::u16, ElementType::u32,
                                     ElementType::u64};

/// Returns 0 for types that this MPI library does not have.
std::size_t size_of(MPI_Datatype datatype) {
    int size_bytes = 0;
    if (datatype == MPI_DATATYPE_NULL || PMPI_Type_size(datatype, &size_bytes) != MPI_SUCCESS)
        return 0;
    return static_cast<std::size_t>(size_bytes);
}

/// Returns the datatype as the one of `types` that has its size; nothing if none has.
std::optional<KnownType> of_size(TypeKind kind, Types types, MPI_Datatype datatype,
                                 int components = 1) {
    for (const ElementType type : types)
        if (const KnownType known{type, kind, components}; known.size_bytes() == size_of(datatype))
            return known;
    return std::nullopt;
}

/// Returns whether the MPI library's ops give the 1 of gfortran for .TRUE.: there are compilers
/// with another number.
bool logicals_are_0_and_1() {
    if (size_of(MPI_LOGICAL) != sizeof(std::int32_t)) return false;
    for (const MPI_Op op : {MPI_LAND, MPI_LOR, MPI_LXOR}) {
        const std::int32_t left[] = {0, 0, 1, 1};
        std::int32_t result[] = {0, 1, 0, 1};
        std::int32_t expected[] = {0, 1, 0, 1};
        reducer_for(*known_op(op), ElementType::i32)(left, expected, expected, 4);
        if (PMPI_Reduce_local(left, result, 4, MPI_LOGICAL, op) != MPI_SUCCESS ||
            !std::equal(std::begin(result), std::end(result), expected))
            return false;
    }
    return true;
}

/// A TypeTable finds what a datatype holds. Sizes are asked of MPI, because Fortran's depend on the
/// compiler. Types that this MPI library does not have are MPI_DATATYPE_NULL.
class TypeTable {
  public:
    TypeTable() {
        add(TypeKind::floating, floats,
            {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8});
        add(TypeKind::c_integer, signed_integers,
            {MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_SHORT, MPI_SIGNED_CHAR, MPI_INT8_T, MPI_INT16_T,
             MPI_INT32_T, MPI_INT64_T});
        add(TypeKind::c_integer, unsigned_integers,
            {MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UNSIGNED_SHORT,
             MPI_UNSIGNED_CHAR, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T});
        add(TypeKind::fortran_integer, signed_integers,
            {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8});
        add(TypeKind::offset, signed_integers, {MPI_AINT, MPI_OFFSET, MPI_COUNT});
        add(TypeKind::bytes, unsigned_integers, {MPI_BYTE});
        add(TypeKind::complex, floats,
            {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX,
             MPI_CXX_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16},
            /*components=*/2);
        add(TypeKind::logical, unsigned_integers, {MPI_C_BOOL, MPI_CXX_BOOL});
        if (!logicals_are_0_and_1()) return;
        add(TypeKind::logical, signed_integers, {MPI_LOGICAL});
#ifdef MPI_LOGICAL1
        add(TypeKind::logical, signed_integers,
            {MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8});
#endif
    }

    std::optional<KnownType> find(MPI_Datatype datatype) const {
        for (const Row& row : rows_)
            if (row.datatype == datatype) return row.known;
        return std::nullopt;
    }

  private:
    /// Adds each datatype as the one of `types` that has its size; leaves it out if none has.
    void add(TypeKind kind, Types types, std::initializer_list<MPI_Datatype> datatypes,
             int components = 1) {
        for (const MPI_Datatype datatype : datatypes)
            if (const auto known = of_size(kind, types, datatype, components))
                rows_.push_back({datatype, *known});
    }

    std::vector<Row> rows_;
};

/// Returns what a type of MPI_Type_create_f90_real, _complex or _integer holds: the numbers that
/// Fortran has of that precision and range. Nothing for other types.
std::optional<KnownType> type_by_precision(MPI_Datatype datatype) {
    int integers = 0;
    int addresses = 0;
    int datatypes = 0;
    int combiner = MPI_COMBINER_NAMED;
    PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner);
    if (combiner == MPI_COMBINER_F90_REAL) return of_size(TypeKind::floating, floats, datatype);
    if (combiner == MPI_COMBINER_F90_COMPLEX)
        return of_size(TypeKind::complex, floats, datatype, /*components=*/2);
    if (combiner == MPI_COMBINER_F90_INTEGER)
        return of_size(TypeKind::fortran_integer, signed_integers, datatype);
    return std::nullopt;
}

/// A LazyHandle is made at the first use and freed in MPI_Finalize.
template <class Handle>
class LazyHandle {
  public:
    template <class Make, class Free>
    Result<Handle> get(Make&& make, Free&& free) {
        if (made_.load(std::memory_order_acquire)) return handle_;
        const std::scoped_lock lock(mutex_);
        if (made_.load(std::memory_order_relaxed)) return handle_;
        GRADCOLL_TRY(make(handle_));
        GRADCOLL_TRY(at_finalize([this, free] {
            made_ = false;
            free(&handle_);
        }));
        made_.store(true, std::memory_order_release);
        return handle_;
    }
    bool is(Handle handle) const {
        return made_.load(std::memory_order_acquire) && handle == handle_;
    }

  private:
    std::mutex mutex_;
    std::atomic<bool> made_{false};
    Handle handle_{};
};

/// The handles are never destroyed: calls may still arrive while the process exits.
LazyHandle<MPI_Datatype>& float16_handle() {
    static auto& handle = *new LazyHandle<MPI_Datatype>;
    return handle;
}
LazyHandle<MPI_Datatype>& bfloat16_handle() {
    static auto& handle = *new LazyHandle<MPI_Datatype>;
    return handle;
}

Status make_two_byte_type(MPI_Datatype& out, const char* name) {
    GRADCOLL_TRY(from_mpi(PMPI_Type_contiguous(2, MPI_BYTE, &out), "MPI_Type_contiguous"));
    GRADCOLL_TRY(from_mpi(PMPI_Type_commit(&out), "MPI_Type_commit"));
    return from_mpi(PMPI_Type_set_name(out, name), "MPI_Type_set_name");
}

Result<MPI_Datatype> two_byte_type(LazyHandle<MPI_Datatype>& handle, const char* name) {
    return handle.get([name](MPI_Datatype& out) { return make_two_byte_type(out, name); },
                      [](MPI_Datatype* type) { PMPI_Type_free(type); });
}

/// An MPI_User_function has no context, so there is one function for each op, and the handle tells
/// it the type.
template <ReduceOp op>
void reduce_16_bit_floats(void* in, void* inout, int* count, MPI_Datatype* datatype) {
    const bool is_bfloat = bfloat16_handle().is(*datatype);
    const Reducer reducer = reducer_for(op, is_bfloat ? ElementType::bf16 : ElementType::f16);
    reducer(in, inout, inout, static_cast<std::size_t>(*count));
}

struct SixteenBitOp {
    ReduceOp op;
    MPI_User_function* function;
    LazyHandle<MPI_Op> handle;
};

std::array<SixteenBitOp, 4>& sixteen_bit_ops() {
    static auto& ops = *new std::array<SixteenBitOp, 4>{{
        {ReduceOp::sum, reduce_16_bit_floats<ReduceOp::sum>, {}},
        {ReduceOp::prod, reduce_16_bit_floats<ReduceOp::prod>, {}},
        {ReduceOp::min, reduce_16_bit_floats<ReduceOp::min>, {}},
        {ReduceOp::max, reduce_16_bit_floats<ReduceOp::max>, {}},
    }};
    return ops;
}

}  // namespace

std::optional<KnownType> known_type(MPI_Datatype datatype) {
    static const TypeTable table;
    if (const auto known = table.find(datatype)) return known;
    if (float16_handle().is(datatype)) return KnownType{ElementType::f16, TypeKind::floating};
    if (bfloat16_handle().is(datatype)) return KnownType{ElementType::bf16, TypeKind::floating};
    if (const auto half = half_type(datatype)) return KnownType{*half, TypeKind::floating};
    if (datatype == MPI_DATATYPE_NULL) return std::nullopt;
    return type_by_precision(datatype);
}

bool has_no_ops_in_mpi(MPI_Datatype datatype) {
    return float16_handle().is(datatype) || bfloat16_handle().is(datatype);
}

std::optional<ReduceOp> known_op(MPI_Op op) {
    if (op == MPI_SUM) return ReduceOp::sum;
    if (op == MPI_MAX) return ReduceOp::max;
    if (op == MPI_MIN) return ReduceOp::min;
    if (op == MPI_PROD) return ReduceOp::prod;
    if (op == MPI_LAND) return ReduceOp::land;
    if (op == MPI_LOR) return ReduceOp::lor;
    if (op == MPI_LXOR) return ReduceOp::lxor;
    if (op == MPI_BAND) return ReduceOp::band;
    if (op == MPI_BOR) return ReduceOp::bor;
    if (op == MPI_BXOR) return ReduceOp::bxor;
    return std::nullopt;
}

bool op_fits(ReduceOp op, TypeKind kind) {
    switch (op) {
        case ReduceOp::sum:
            return kind != TypeKind::bytes && kind != TypeKind::logical;
        case ReduceOp::prod:
        case ReduceOp::min:
        case ReduceOp::max:
            return kind != TypeKind::bytes && kind != TypeKind::logical &&
                   kind != TypeKind::complex;
        case ReduceOp::land:
        case ReduceOp::lor:
        case ReduceOp::lxor:
            return kind == TypeKind::c_integer || kind == TypeKind::logical;
        case ReduceOp::band:
        case ReduceOp::bor:
        case ReduceOp::bxor:
            return kind != TypeKind::floating && kind != TypeKind::complex &&
                   kind != TypeKind::logical;
    }
    return false;
}

Result<MPI_Datatype> float16_type() {
    return two_byte_type(float16_handle(), "GC_FLOAT16");
}
Result<MPI_Datatype> bfloat16_type() {
    return two_byte_type(bfloat16_handle(), "GC_BFLOAT16");
}

Result<MPI_Op> op_for_16_bit_floats(ReduceOp op) {
    for (SixteenBitOp& row : sixteen_bit_ops()) {
        if (row.op != op) continue;
        return row.handle.get(
            [&row](MPI_Op& out) {
                return from_mpi(PMPI_Op_create(row.function, /*commute=*/1, &out), "MPI_Op_create");
            },
            [](MPI_Op* out) { PMPI_Op_free(out); });
    }
    return Status(Code::invalid_op,
                  fmt::format("op {} is not defined for 16-bit floats: sum, prod, "
                              "min and max are",
                              name_of(op)));
}

}  // namespace gradcoll
