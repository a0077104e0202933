#include "call/reductions.hpp"

#include <algorithm>
#include <complex>

namespace gradcoll::test {
namespace {

using Bits = std::uint64_t;

template <class T>
void store(std::byte* to, const T& value) {
    std::memcpy(to, &value, sizeof value);
}

/// Returns a whole number so small that the sum of many has an exact float.
template <class T>
T whole(Bits bits) {
    return static_cast<T>(static_cast<int>(bits % 201) - 100);
}

/// Returns a factor; products of a few of them are exact.
template <class T>
T factor(Bits bits) {
    static constexpr T factors[] = {1, -1, 2, -3, 0.5};
    return factors[bits % 5];
}

/// Returns a complex factor. No part of a product is zero, as its sign would depend on the
/// brackets.
template <class T>
std::complex<T> complex_factor(Bits bits) {
    return factor<T>(bits) * std::complex<T>(2, 1);
}

Mask padding_behind(std::size_t used, std::size_t size) {
    Mask mask(size, false);
    std::fill(mask.begin() + static_cast<std::ptrdiff_t>(used), mask.end(), true);
    return mask;
}

/// A long double of x87 has 16 bytes, of which 10 mean something.
constexpr std::size_t used_of_long_double = sizeof(long double) == 16 ? 10 : sizeof(long double);

Mask long_double_padding(int numbers) {
    Mask mask;
    for (int i = 0; i < numbers; ++i) {
        const Mask one = padding_behind(used_of_long_double, sizeof(long double));
        mask.insert(mask.end(), one.begin(), one.end());
    }
    return mask;
}

template <class First, class Second>
struct PairOf {
    First value;
    Second place;
};

/// Returns a reduction of pairs. There are few values, so that places decide.
template <class First, class Second>
Reduction pair(std::string name, MPI_Datatype type) {
    using Both = PairOf<First, Second>;
    Reduction row{std::move(name), type, MPI_OP_NULL, sizeof(Both)};
    row.put = [](std::byte* to, Bits bits) {
        store(to + offsetof(Both, value), static_cast<First>(bits % 3));
        store(to + offsetof(Both, place), static_cast<Second>(bits / 3 % 1000));
    };
    row.padding.assign(sizeof(Both), true);
    const auto means = [&](std::size_t first, std::size_t bytes) {
        for (std::size_t i = first; i < first + bytes; ++i) row.padding[i] = false;
    };
    means(offsetof(Both, value),
          std::is_same_v<First, long double> ? used_of_long_double : sizeof(First));
    means(offsetof(Both, place), sizeof(Second));
    return row;
}

template <class Element>
Element* elements(void* at) {
    return static_cast<Element*>(at);
}

void add_ints(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) elements<unsigned>(inout)[i] += elements<unsigned>(in)[i];
}

/// Sums both numbers of pairs that have a gap between them.
void sum_pairs(void* in, void* inout, int* count, MPI_Datatype*) {
    using Both = PairOf<double, int>;
    for (int i = 0; i < *count; ++i) {
        elements<Both>(inout)[i].value += elements<Both>(in)[i].value;
        elements<Both>(inout)[i].place += elements<Both>(in)[i].place;
    }
}

/// Elements are maps of whole vectors, x -> a x + b, which are composed: a is the first number, b
/// the others.
constexpr int long_element = 100;
void compose_long_maps(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) {
        const std::uint64_t* left = elements<std::uint64_t>(in) + i * long_element;
        std::uint64_t* right = elements<std::uint64_t>(inout) + i * long_element;
        for (int k = 1; k < long_element; ++k) right[k] = right[0] * left[k] + right[k];
        right[0] *= left[0];
    }
}

}  // namespace

void multiply_matrices(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) {
        const std::uint64_t* a = elements<std::uint64_t>(in) + 4 * i;
        std::uint64_t* b = elements<std::uint64_t>(inout) + 4 * i;
        const std::uint64_t product[] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                                         a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
        std::copy(std::begin(product), std::end(product), b);
    }
}

void compose_maps(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < 3 * *count; i += 3) {
        const std::uint8_t* first = elements<std::uint8_t>(in) + i;
        std::uint8_t* second = elements<std::uint8_t>(inout) + i;
        second[1] = static_cast<std::uint8_t>(second[0] * first[1] + second[1]);
        second[0] = static_cast<std::uint8_t>(second[0] * first[0]);
    }
}

std::vector<std::byte> Reduction::values(int rank, std::size_t count) const {
    std::vector<std::byte> out(count * element_bytes);
    for (std::size_t i = 0; i < count; ++i)
        put(out.data() + i * element_bytes, mix(i * 31 + static_cast<std::uint64_t>(rank) * 7919));
    return out;
}

std::vector<std::byte> Reduction::meaning_of(const std::vector<std::byte>& values) const {
    if (padding.empty()) return values;
    std::vector<std::byte> out;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!padding[i % element_bytes]) out.push_back(values[i]);
    return out;
}

namespace {

template <class T>
void add_complex_of(std::vector<Reduction>& all, const std::string& name, MPI_Datatype type) {
    if (type == MPI_DATATYPE_NULL) return;
    constexpr bool is_long = std::is_same_v<T, long double>;
    const Mask padding = is_long ? long_double_padding(2) : Mask();
    const auto sum = [](std::byte* to, Bits bits) {
        store(to, std::complex<T>(whole<T>(bits), whole<T>(bits >> 20U)));
    };
    const auto product = [](std::byte* to, Bits bits) { store(to, complex_factor<T>(bits)); };
    all.push_back({name + " sum", type, MPI_SUM, 2 * sizeof(T), sum, padding, !is_long});
    all.push_back({name + " prod", type, MPI_PROD, 2 * sizeof(T), product, padding});
}

template <class T>
void add_logical_of(std::vector<Reduction>& all, const std::string& name, MPI_Datatype type) {
    if (type == MPI_DATATYPE_NULL) return;
    const std::pair<const char*, MPI_Op> ops[] = {
        {" land", MPI_LAND}, {" lor", MPI_LOR}, {" lxor", MPI_LXOR}};
    for (const auto& [op_name, op] : ops)
        all.push_back({name + op_name,
                       type,
                       op,
                       sizeof(T),
                       [](std::byte* to, Bits bits) { store(to, static_cast<T>(bits % 4 != 0)); },
                       {},
                       true});
}

}  // namespace

void Reductions::add_complex() {
    add_complex_of<float>(all_, "MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX);
    add_complex_of<double>(all_, "MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX);
    add_complex_of<float>(all_, "MPI_CXX_FLOAT_COMPLEX", MPI_CXX_FLOAT_COMPLEX);
    add_complex_of<double>(all_, "MPI_CXX_DOUBLE_COMPLEX", MPI_CXX_DOUBLE_COMPLEX);
    add_complex_of<float>(all_, "MPI_COMPLEX", MPI_COMPLEX);
    add_complex_of<double>(all_, "MPI_DOUBLE_COMPLEX", MPI_DOUBLE_COMPLEX);
    add_complex_of<long double>(all_, "MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX);
}

void Reductions::add_logical() {
    add_logical_of<std::uint8_t>(all_, "MPI_C_BOOL", MPI_C_BOOL);
    add_logical_of<std::uint8_t>(all_, "MPI_CXX_BOOL", MPI_CXX_BOOL);
    add_logical_of<std::int32_t>(all_, "MPI_LOGICAL", MPI_LOGICAL);
#ifdef MPI_LOGICAL1
    add_logical_of<std::int8_t>(all_, "MPI_LOGICAL1", MPI_LOGICAL1);
    add_logical_of<std::int16_t>(all_, "MPI_LOGICAL2", MPI_LOGICAL2);
    add_logical_of<std::int32_t>(all_, "MPI_LOGICAL4", MPI_LOGICAL4);
    add_logical_of<std::int64_t>(all_, "MPI_LOGICAL8", MPI_LOGICAL8);
#endif
}

void Reductions::add_pairs() {
    const Reduction rows[] = {
        pair<float, int>("MPI_FLOAT_INT", MPI_FLOAT_INT),
        pair<double, int>("MPI_DOUBLE_INT", MPI_DOUBLE_INT),
        pair<long, int>("MPI_LONG_INT", MPI_LONG_INT),
        pair<int, int>("MPI_2INT", MPI_2INT),
        pair<short, int>("MPI_SHORT_INT", MPI_SHORT_INT),
        pair<long double, int>("MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT),
        pair<float, float>("MPI_2REAL", MPI_2REAL),
        pair<double, double>("MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION),
        pair<int, int>("MPI_2INTEGER", MPI_2INTEGER),
    };
    for (const Reduction& row : rows)
        for (const bool least : {false, true}) {
            if (row.type == MPI_DATATYPE_NULL) continue;
            all_.push_back(row);
            all_.back().name += least ? " minloc" : " maxloc";
            all_.back().op = least ? MPI_MINLOC : MPI_MAXLOC;
        }
}

void Reductions::add_long_double() {
    const std::pair<const char*, MPI_Op> ops[] = {
        {"sum", MPI_SUM}, {"prod", MPI_PROD}, {"min", MPI_MIN}, {"max", MPI_MAX}};
    for (const auto& [name, op] : ops)
        all_.push_back(
            {std::string("MPI_LONG_DOUBLE ") + name, MPI_LONG_DOUBLE, op, sizeof(long double),
             [is_product = op == MPI_PROD](std::byte* to, Bits bits) {
                 store(to, is_product ? factor<long double>(bits) : whole<long double>(bits));
             },
             long_double_padding(1)});
}

MPI_Datatype Reductions::own(MPI_Datatype type) {
    MPI_Type_commit(&type);
    types_.push_back(type);
    return type;
}

MPI_Op Reductions::own(MPI_User_function* function, bool commutes) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(function, commutes ? 1 : 0, &op);
    ops_.push_back(op);
    return op;
}

void Reductions::add_of_the_program() {
    const auto numbers = [](std::size_t count) {
        return [count](std::byte* to, Bits bits) {
            for (std::size_t i = 0; i < count; ++i) store(to + 8 * i, mix(bits + i));
        };
    };
    const auto one_number = [](std::byte* to, Bits bits) {
        store(to, static_cast<unsigned>(bits));
    };
    const auto three_bytes = [](std::byte* to, Bits bits) { std::memcpy(to, &bits, 3); };
    MPI_Datatype matrix = MPI_DATATYPE_NULL;
    MPI_Datatype map = MPI_DATATYPE_NULL;
    MPI_Datatype vector = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(4, MPI_UINT64_T, &matrix);
    MPI_Type_contiguous(3, MPI_BYTE, &map);
    MPI_Type_contiguous(long_element, MPI_UINT64_T, &vector);
    all_.push_back({"a sum of ints", MPI_UNSIGNED, own(add_ints, true), 4, one_number});
    all_.push_back({"an ordered sum of ints", MPI_UNSIGNED, own(add_ints, false), 4, one_number});
    all_.push_back({"products of matrices", own(matrix), own(multiply_matrices, false),
                    matrix_bytes, numbers(4)});
    all_.push_back({"maps, composed", own(map), own(compose_maps, false), 3, three_bytes});
    all_.push_back({"long elements", own(vector), own(compose_long_maps, false), 8 * long_element,
                    numbers(long_element)});
    all_.push_back(pair<double, int>("sums of pairs", MPI_DOUBLE_INT));
    all_.back().op = own(sum_pairs, true);
}

Reductions::Reductions() {
    add_complex();
    add_logical();
    add_pairs();
    add_long_double();
    add_of_the_program();
}

Reductions::~Reductions() {
    for (MPI_Op& op : ops_) MPI_Op_free(&op);
    for (MPI_Datatype& type : types_) MPI_Type_free(&type);
}

}  // namespace gradcoll::test
