// mover/profile/kept_names.cpp - see kept_names.hpp.
#include "mover/profile/kept_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace gradcoll::mover {
namespace {

constexpr std::size_t most_kept = 64;  // the limit of our own form, for each layer

}  // namespace

std::string name_of_kept(const std::string& name) {
    return name.starts_with("aten::") ? name.substr(6) : name;
}

void number_names(KeptPieces& kept) {
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

nlohmann::json json_of_kept(const KeptPieces& kept) {
    nlohmann::json out = nlohmann::json::array();
    for (const auto& [name, bytes] : kept) out.push_back({{"name", name}, {"bytes", bytes}});
    return out;
}

}  // namespace gradcoll::mover
