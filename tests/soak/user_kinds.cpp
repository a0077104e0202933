#include "soak/user_kinds.hpp"

#include <fmt/format.h>

#include <cstring>

namespace gradcoll::soak {
namespace {

struct Pair {
    std::int32_t value = 0, place = 0;
    bool operator==(const Pair&) const = default;
};

Pair pair_of(const Section& section, int rank, std::size_t i) {
    const std::uint64_t bits = bits_at(section.key, rank, section.first + i);
    return {static_cast<std::int32_t>(bits % 3), static_cast<std::int32_t>(bits >> 40)};
}

Pair extreme(const Section& section, int ranks, std::size_t i, bool least) {
    Pair best = pair_of(section, 0, i);
    for (int rank = 1; rank < ranks; ++rank) {
        const Pair other = pair_of(section, rank, i);
        const bool better = least ? other.value < best.value : other.value > best.value;
        const bool equal = other.value == best.value;
        if (better || (equal && other.place < best.place)) best = other;
    }
    return best;
}

/// A Map is x -> a x + b.
struct Map {
    std::uint32_t a = 1, b = 0;
    bool operator==(const Map&) const = default;
};

Map then(const Map& first, const Map& second) {
    return {second.a * first.a, second.a * first.b + second.b};
}

Map map_of(const Section& section, int rank, std::size_t i) {
    const std::uint64_t bits = bits_at(section.key, rank, section.first + i);
    return {static_cast<std::uint32_t>(bits) | 1, static_cast<std::uint32_t>(bits >> 32)};
}

void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *count; ++i) {
        Map first, second;
        std::memcpy(&first, static_cast<char*>(in) + i * extent, sizeof first);
        std::memcpy(&second, static_cast<char*>(inout) + i * extent, sizeof second);
        const Map both = then(first, second);
        std::memcpy(static_cast<char*>(inout) + i * extent, &both, sizeof both);
    }
}

void add(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i)
        static_cast<std::uint32_t*>(inout)[i] += static_cast<const std::uint32_t*>(in)[i];
}

template <class Element, class Wanted>
std::string compare(const void* out, std::size_t stride_bytes, const Section& section,
                    Wanted&& wanted) {
    for (std::size_t i = 0; i < section.count; ++i) {
        Element is;
        std::memcpy(&is, static_cast<const char*>(out) + i * stride_bytes, sizeof is);
        if (!(is == wanted(i)))
            return fmt::format("element {} of {} is wrong", section.first + i, section.count);
    }
    return {};
}

}  // namespace

void ExtremeKind::fill(void* out, const Section& section, int rank) const {
    for (std::size_t i = 0; i < section.count; ++i)
        static_cast<Pair*>(out)[i] = pair_of(section, rank, i);
}

std::string ExtremeKind::check(const void* out, const Section& section, int ranks, Loss) const {
    return compare<Pair>(out, sizeof(Pair), section, [&](std::size_t i) {
        return extreme(section, ranks, i, op() == MPI_MINLOC);
    });
}

std::string ExtremeKind::check_copy(const void* out, const Section& section, int rank, Loss) const {
    return compare<Pair>(out, sizeof(Pair), section,
                         [&](std::size_t i) { return pair_of(section, rank, i); });
}

CompositionKind::CompositionKind(bool apart, MPI_Datatype type, MPI_Op op)
    : Kind(apart ? "maps with gaps, composed" : "maps, composed", type, op,
           sizeof(Map) * (apart ? 2 : 1)),
      stride_(apart ? 4 : 2) {}

void CompositionKind::fill(void* out, const Section& section, int rank) const {
    for (std::size_t i = 0; i < section.count; ++i) {
        const Map map = map_of(section, rank, i);
        std::memcpy(static_cast<std::uint32_t*>(out) + i * stride_, &map, sizeof map);
    }
}

std::string CompositionKind::check(const void* out, const Section& section, int ranks, Loss) const {
    return compare<Map>(out, element_bytes(), section, [&](std::size_t i) {
        Map all = map_of(section, 0, i);
        for (int rank = 1; rank < ranks; ++rank) all = then(all, map_of(section, rank, i));
        return all;
    });
}

std::string CompositionKind::check_copy(const void* out, const Section& section, int rank,
                                        Loss) const {
    return compare<Map>(out, element_bytes(), section,
                        [&](std::size_t i) { return map_of(section, rank, i); });
}

MPI_Datatype make_map_type(bool apart) {
    MPI_Datatype numbers = MPI_DATATYPE_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_UINT32_T, &numbers);
    MPI_Type_create_resized(numbers, 0, apart ? 16 : 8, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&numbers);
    return type;
}

MPI_Op make_composition() {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(compose, 0, &op);
    return op;
}

MPI_Op make_user_sum() {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(add, 1, &op);
    return op;
}

}  // namespace gradcoll::soak
