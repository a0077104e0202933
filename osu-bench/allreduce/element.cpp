// element.cpp - the table of element types.
#include "element.hpp"

#include <gradcoll/gradcoll.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "half.hpp"

namespace gradcoll::bench {
namespace {

double as_double(float value) {
    return value;
}
double as_double(double value) {
    return value;
}
double as_double(std::int32_t value) {
    return value;
}
double as_double(Float16 value) {
    return to_float(value);
}
double as_double(BFloat16 value) {
    return to_float(value);
}

void from_double(double value, float& out) {
    out = static_cast<float>(value);
}
void from_double(double value, double& out) {
    out = value;
}
void from_double(double value, std::int32_t& out) {
    out = static_cast<std::int32_t>(std::lround(value));
}
void from_double(double value, Float16& out) {
    store(static_cast<float>(value), out);
}
void from_double(double value, BFloat16& out) {
    store(static_cast<float>(value), out);
}

template <class T>
void load_as_double(const void* in, std::size_t count, double* values) {
    const T* elements = static_cast<const T*>(in);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = as_double(elements[i]);
    }
}

template <class T>
void store_from_double(const double* values, std::size_t count, void* out) {
    T* elements = static_cast<T*>(out);
    for (std::size_t i = 0; i < count; ++i) {
        from_double(values[i], elements[i]);
    }
}

template <class T>
constexpr Element element(std::string_view name, double unit_roundoff, MPI_Datatype (*datatype)(),
                          bool has_mpi_ops) {
    return {name,        sizeof(T),         unit_roundoff,       datatype,
            has_mpi_ops, load_as_double<T>, store_from_double<T>};
}

MPI_Datatype float_type() {
    return MPI_FLOAT;
}
MPI_Datatype double_type() {
    return MPI_DOUBLE;
}
MPI_Datatype int32_type() {
    return MPI_INT32_T;
}

const std::array elements = {
    element<float>("float", 0x1p-24, float_type, true),
    element<double>("double", 0x1p-53, double_type, true),
    element<Float16>("half", 0x1p-11, GC_Type_float16, false),
    element<BFloat16>("bf16", 0x1p-8, GC_Type_bfloat16, false),
    element<std::int32_t>("int32", 0, int32_type, true),
};

}  // namespace

const Element* find_element(std::string_view name) {
    for (const Element& candidate : elements) {
        if (candidate.name == name) {
            return &candidate;
        }
    }
    return nullptr;
}

std::vector<std::string> element_names() {
    std::vector<std::string> names;
    for (const Element& each : elements) {
        names.emplace_back(each.name);
    }
    return names;
}

}  // namespace gradcoll::bench
