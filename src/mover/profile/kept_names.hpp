// mover/profile/kept_names.hpp - what a layer keeps, with names for people.
#pragma once

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace gradcoll::mover {

using KeptPieces = std::vector<std::pair<std::string, std::int64_t>>;  ///< name and bytes

/// Returns an operator's name without its namespace, if that is PyTorch's own.
inline std::string name_of_kept(const std::string& name) {
    return name.starts_with("aten::") ? name.substr(6) : name;
}

/// Makes the names of a layer's pieces unique, the largest first; if there are too many, the
/// smallest are merged into one.
inline void number_names(KeptPieces& kept) {
    constexpr std::size_t most_kept = 64;  // the limit of our own form, for each layer
    std::stable_sort(kept.begin(), kept.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    while (kept.size() > most_kept) {
        kept[most_kept - 1].first = "others";
        kept[most_kept - 1].second += kept.back().second;
        kept.pop_back();
    }
    std::map<std::string, int> seen;
    for (auto& [name, bytes] : kept)
        if (const int number = ++seen[name]; number > 1) name += fmt::format(" {}", number);
}

/// Returns the list in our own form (docs/schemas/mover-model.json).
inline nlohmann::json json_of_kept(const KeptPieces& kept) {
    nlohmann::json out = nlohmann::json::array();
    for (const auto& [name, bytes] : kept) out.push_back({{"name", name}, {"bytes", bytes}});
    return out;
}

}  // namespace gradcoll::mover
