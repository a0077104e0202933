#include "compress/packing.hpp"

#include <algorithm>
#include <iterator>

namespace gradcoll {
namespace {

struct Row {
    Packing packing;
    std::string_view name;
    PackingRates rates;
};

/// These rates are of gradients in int8 and 2:4+int8 (compress/lossless/README.md).
constexpr Row rows[] = {
    {Packing::zstd, "zstd", {0.7, 1.4, 0.91}},
    {Packing::lz4, "lz4", {4.5, 25, 0.97}},
};

const Row* row_of(Packing packing) {
    const auto* const row = std::find_if(std::begin(rows), std::end(rows),
                                         [&](const Row& one) { return one.packing == packing; });
    return row != std::end(rows) ? row : nullptr;
}

}  // namespace

std::string_view name_of(Packing packing) {
    const Row* const row = row_of(packing);
    return row != nullptr ? row->name : "";
}

std::optional<Packing> packing_named(std::string_view name) {
    for (const Row& row : rows)
        if (row.name == name) return row.packing;
    return {};
}

const PackingRates& rates_of(Packing packing) {
    static constexpr PackingRates none;
    const Row* const row = row_of(packing);
    return row != nullptr ? row->rates : none;
}

}  // namespace gradcoll
