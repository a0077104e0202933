// tests/soak/kinds.cpp - the table of kinds: which ops go with which datatypes.
#include "soak/kinds.hpp"

#include <gradcoll.h>

#include "soak/number_kinds.hpp"
#include "soak/user_kinds.hpp"

namespace gradcoll::soak {
namespace {

using KindList = std::vector<std::unique_ptr<Kind>>;
struct NamedOp {
    const char* name;
    std::pair<Op, MPI_Op> op;
};

std::vector<NamedOp> arithmetic_ops() {
    return {{"MPI_SUM", {Op::sum, MPI_SUM}},
            {"MPI_PROD", {Op::prod, MPI_PROD}},
            {"MPI_MIN", {Op::min, MPI_MIN}},
            {"MPI_MAX", {Op::max, MPI_MAX}}};
}
std::vector<NamedOp> logical_ops() {
    return {{"MPI_LAND", {Op::land, MPI_LAND}},
            {"MPI_LOR", {Op::lor, MPI_LOR}},
            {"MPI_LXOR", {Op::lxor, MPI_LXOR}}};
}
std::vector<NamedOp> bitwise_ops() {
    return {{"MPI_BAND", {Op::band, MPI_BAND}},
            {"MPI_BOR", {Op::bor, MPI_BOR}},
            {"MPI_BXOR", {Op::bxor, MPI_BXOR}}};
}

template <class KindOfNumbers>
void add(KindList& list, const char* type_name, MPI_Datatype type,
         const std::vector<NamedOp>& ops) {
    for (const NamedOp& op : ops)
        list.push_back(
            std::make_unique<KindOfNumbers>(fmt::format("{} {}", type_name, op.name), type, op.op));
}

template <class T>
void add_integer(KindList& list, const char* type_name, MPI_Datatype type) {
    add<IntegerKind<T>>(list, type_name, type, arithmetic_ops());
    add<IntegerKind<T>>(list, type_name, type, logical_ops());
    add<IntegerKind<T>>(list, type_name, type, bitwise_ops());
}

}  // namespace

void Kinds::add_numbers() {
    add_integer<std::int8_t>(kinds_, "MPI_INT8_T", MPI_INT8_T);
    add_integer<std::uint8_t>(kinds_, "MPI_UINT8_T", MPI_UINT8_T);
    add_integer<std::int16_t>(kinds_, "MPI_SHORT", MPI_SHORT);
    add_integer<std::uint16_t>(kinds_, "MPI_UNSIGNED_SHORT", MPI_UNSIGNED_SHORT);
    add_integer<std::int32_t>(kinds_, "MPI_INT", MPI_INT);
    add_integer<std::uint32_t>(kinds_, "MPI_UNSIGNED", MPI_UNSIGNED);
    add_integer<std::int64_t>(kinds_, "MPI_INT64_T", MPI_INT64_T);
    add_integer<std::uint64_t>(kinds_, "MPI_UINT64_T", MPI_UINT64_T);
    add<IntegerKind<std::uint8_t>>(kinds_, "MPI_BYTE", MPI_BYTE, bitwise_ops());
    add<IntegerKind<std::uint8_t>>(kinds_, "MPI_C_BOOL", MPI_C_BOOL, logical_ops());
    // Floats come in many copies, since the library is made for them.
    for (int copy = 0; copy < 4; ++copy) {
        add<FloatKind<Float<float>>>(kinds_, "MPI_FLOAT", MPI_FLOAT, arithmetic_ops());
        add<FloatKind<Float<double>>>(kinds_, "MPI_DOUBLE", MPI_DOUBLE, arithmetic_ops());
        add<FloatKind<Binary16>>(kinds_, "float16", GC_Type_float16(), arithmetic_ops());
        add<FloatKind<Bfloat16>>(kinds_, "bfloat16", GC_Type_bfloat16(), arithmetic_ops());
    }
    add<FloatKind<Float<long double>>>(kinds_, "MPI_LONG_DOUBLE", MPI_LONG_DOUBLE,
                                       arithmetic_ops());
}

void Kinds::add_of_users() {
    kinds_.push_back(std::make_unique<ExtremeKind>("MPI_2INT MPI_MINLOC", MPI_MINLOC));
    kinds_.push_back(std::make_unique<ExtremeKind>("MPI_2INT MPI_MAXLOC", MPI_MAXLOC));
    for (const bool apart : {false, true}) {
        types_.push_back(make_map_type(apart));
        ops_.push_back(make_composition());
        kinds_.push_back(std::make_unique<CompositionKind>(apart, types_.back(), ops_.back()));
    }
    ops_.push_back(make_user_sum());
    kinds_.push_back(std::make_unique<IntegerKind<std::int32_t>>("MPI_INT user sum", MPI_INT,
                                                                 std::pair(Op::sum, ops_.back())));
}

Kinds::Kinds() {
    add_numbers();
    add_of_users();
}

Kinds::~Kinds() {
    for (MPI_Op& op : ops_) MPI_Op_free(&op);
    for (MPI_Datatype& type : types_) MPI_Type_free(&type);
}

}  // namespace gradcoll::soak
