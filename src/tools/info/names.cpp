#include "options.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>

#include "gradcoll/base.h"

namespace gradcoll::info {
namespace {

struct FloatInt {
    float value;
    int index;
};

// The handles of some MPI libraries are no constants, so each is asked for when it is needed.
constexpr TypeName types[] = {
    {"float", sizeof(float), [] { return MPI_FLOAT; }},
    {"double", sizeof(double), [] { return MPI_DOUBLE; }},
    {"half", 2, [] { return GC_Type_float16(); }},
    {"bfloat16", 2, [] { return GC_Type_bfloat16(); }},
    {"int", sizeof(int), [] { return MPI_INT; }},
    {"unsigned", sizeof(unsigned), [] { return MPI_UNSIGNED; }},
    {"long", sizeof(long), [] { return MPI_LONG; }},
    {"unsigned_long", sizeof(unsigned long), [] { return MPI_UNSIGNED_LONG; }},
    {"short", sizeof(short), [] { return MPI_SHORT; }},
    {"unsigned_short", sizeof(unsigned short), [] { return MPI_UNSIGNED_SHORT; }},
    {"long_long", sizeof(long long), [] { return MPI_LONG_LONG; }},
    {"unsigned_long_long", sizeof(unsigned long long), [] { return MPI_UNSIGNED_LONG_LONG; }},
    {"int8_t", 1, [] { return MPI_INT8_T; }},
    {"int16_t", 2, [] { return MPI_INT16_T; }},
    {"int32_t", 4, [] { return MPI_INT32_T; }},
    {"int64_t", 8, [] { return MPI_INT64_T; }},
    {"uint8_t", 1, [] { return MPI_UINT8_T; }},
    {"uint16_t", 2, [] { return MPI_UINT16_T; }},
    {"uint32_t", 4, [] { return MPI_UINT32_T; }},
    {"uint64_t", 8, [] { return MPI_UINT64_T; }},
    {"signed_char", 1, [] { return MPI_SIGNED_CHAR; }},
    {"unsigned_char", 1, [] { return MPI_UNSIGNED_CHAR; }},
    {"byte", 1, [] { return MPI_BYTE; }},
    {"c_bool", sizeof(bool), [] { return MPI_C_BOOL; }},
    {"long_double", sizeof(long double), [] { return MPI_LONG_DOUBLE; }},
    {"c_float_complex", sizeof(std::complex<float>), [] { return MPI_C_FLOAT_COMPLEX; }},
    {"c_double_complex", sizeof(std::complex<double>), [] { return MPI_C_DOUBLE_COMPLEX; }},
    {"float_int", sizeof(FloatInt), [] { return MPI_FLOAT_INT; }},
    {"2int", 2 * sizeof(int), [] { return MPI_2INT; }},
};

constexpr OpName ops[] = {
    {"sum", [] { return MPI_SUM; }},       {"prod", [] { return MPI_PROD; }},
    {"min", [] { return MPI_MIN; }},       {"max", [] { return MPI_MAX; }},
    {"land", [] { return MPI_LAND; }},     {"lor", [] { return MPI_LOR; }},
    {"lxor", [] { return MPI_LXOR; }},     {"band", [] { return MPI_BAND; }},
    {"bor", [] { return MPI_BOR; }},       {"bxor", [] { return MPI_BXOR; }},
    {"minloc", [] { return MPI_MINLOC; }}, {"maxloc", [] { return MPI_MAXLOC; }},
};

constexpr std::pair<std::string_view, std::string_view> synonyms[] = {
    {"float16", "half"},    {"fp16", "half"},       {"bf16", "bfloat16"}, {"f16", "half"},
    {"f32", "float"},       {"f64", "double"},      {"fp32", "float"},    {"float32", "float"},
    {"fp64", "double"},     {"float64", "double"},  {"int8", "int8_t"},   {"int16", "int16_t"},
    {"int32", "int32_t"},   {"int64", "int64_t"},   {"uint8", "uint8_t"}, {"uint16", "uint16_t"},
    {"uint32", "uint32_t"}, {"uint64", "uint64_t"}, {"product", "prod"},
};

template <class Rows>
auto find(const Rows& rows, std::string_view name) -> decltype(std::begin(rows)) {
    std::string plain = plain_name(name);
    for (const auto& [other, known] : synonyms)
        if (plain == other) plain = known;
    const auto* row = std::find_if(std::begin(rows), std::end(rows),
                                   [&](const auto& r) { return r.name == plain; });
    return row == std::end(rows) ? nullptr : row;
}

}  // namespace

std::span<const TypeName> type_names() {
    return types;
}

std::span<const OpName> op_names() {
    return ops;
}

std::string plain_name(std::string_view name) {
    std::string plain(name);
    for (char& c : plain) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    for (const std::string_view prefix : {"mpi_", "gc_"})
        if (plain.starts_with(prefix)) return plain.substr(prefix.size());
    return plain;
}

const TypeName* find_type(std::string_view name) {
    return find(types, name);
}

const OpName* find_op(std::string_view name) {
    return find(ops, name);
}

}  // namespace gradcoll::info
