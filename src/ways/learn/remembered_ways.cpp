#include "ways/learn/remembered_ways.hpp"

#include <bit>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/hash.hpp"
#include "topology/json_value.hpp"
#include "topology/sources/cluster/kept_networks.hpp"

namespace gradcoll {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* version_key = "gradcoll_ways";
constexpr int file_version = 1;
constexpr std::pair<const char*, TriedWay> lists[] = {{"ours", TriedWay::ours},
                                                      {"mpi", TriedWay::other}};
constexpr std::size_t most_trees = 1000;

/// The shelf stays alive while the process exits.
struct Shelf {
    std::mutex mutex;
    std::map<std::uint64_t, TriedWays> ways;
};
Shelf& shelf() {
    static Shelf& all = *new Shelf;
    return all;
}

/// Returns a key without rates, which are measured anew in each job.
std::uint64_t key_of(const Tree& tree) {
    Hash hash;
    for (int id = 0; id < tree.vertex_count(); ++id) {
        const Vertex& vertex = tree.vertex(id);
        hash.value(vertex.parent).value(vertex.rank).value(vertex.kind).text(vertex.name);
    }
    return hash.digest();
}

KeptFile file_of(std::uint64_t key) {
    return {"ways", key};
}

bool is_of_this_version(const nlohmann::json& json) {
    const auto version = json.find(version_key);
    return version != json.end() && *version == file_version;
}

/// Returns the ways that this process has kept; at first those that an earlier job kept. The caller
/// holds the lock of the shelf.
TriedWays& ways_of(std::uint64_t key) {
    auto& all = shelf().ways;
    if (all.size() >= most_trees && !all.contains(key)) all.clear();
    const auto [place, is_new] = all.try_emplace(key);
    if (!is_new) return place->second;
    if (const auto text = file_of(key).text()) place->second = ways_from(*text);
    return place->second;
}

}  // namespace

std::string text_of(const TriedWays& ways) {
    Json json;
    json[version_key] = file_version;
    for (const auto& [name, way] : lists) {
        json[name] = Json::array();
        for (std::size_t bin = 0; bin < ways.size(); ++bin)
            if (ways[bin] == way) json[name].push_back(std::uint64_t{1} << bin);
    }
    return json.dump() + "\n";
}

TriedWays ways_from(std::string_view text) {
    const auto json = json_in(text);
    TriedWays ways{};
    if (!json.ok() || !json->is_object() || !is_of_this_version(*json)) return ways;
    for (const auto& [name, way] : lists) {
        const auto sizes = json->find(name);
        if (sizes == json->end() || !sizes->is_array()) return {};
        for (const auto& size : *sizes)
            if (size.is_number_unsigned() && std::has_single_bit(size.get<std::uint64_t>()))
                ways[static_cast<std::size_t>(std::bit_width(size.get<std::uint64_t>()) - 1)] = way;
    }
    return ways;
}

TriedWays remembered_ways(const Tree& tree) {
    const std::scoped_lock lock(shelf().mutex);
    return ways_of(key_of(tree));
}

void remember_ways(const Tree& tree, const TriedWays& ways) {
    const std::uint64_t key = key_of(tree);
    const std::scoped_lock lock(shelf().mutex);
    TriedWays& kept = ways_of(key);
    for (std::size_t bin = 0; bin < ways.size(); ++bin)
        if (ways[bin] != TriedWay::unknown) kept[bin] = ways[bin];
    file_of(key).write(text_of(kept));
}

}  // namespace gradcoll
