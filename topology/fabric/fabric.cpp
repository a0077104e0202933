#include "topology/fabric/fabric.hpp"

#include <utility>

namespace gradcoll {

int FabricBuilder::named(std::unordered_map<std::string, int>& ids, std::string_view name,
                         bool is_host) {
    const auto [place, is_new] =
        ids.try_emplace(std::string(name), static_cast<int>(fabric_.nodes.size()));
    if (is_new) fabric_.nodes.push_back({place->first, is_host});
    return place->second;
}

int FabricBuilder::switch_named(std::string_view name) { return named(switches_, name, false); }

int FabricBuilder::host_named(std::string_view name) { return named(hosts_, name, true); }

void FabricBuilder::add_cable(int a, int b, double gbytes_per_s, double latency_us) {
    fabric_.cables.push_back({a, b, gbytes_per_s, latency_us});
}

Result<Fabric> FabricBuilder::take() {
    const auto refused = [](const std::string& what, std::size_t found, int allowed) {
        return Status(Code::invalid_argument, "the fabric has " + std::to_string(found) + " " +
                                                  what + ", allowed are up to " +
                                                  std::to_string(allowed));
    };
    if (fabric_.nodes.size() > max_fabric_nodes)
        return refused("switches and hosts", fabric_.nodes.size(), max_fabric_nodes);
    if (fabric_.cables.size() > max_fabric_cables)
        return refused("cables", fabric_.cables.size(), max_fabric_cables);
    if (hosts_.empty())
        return Status(Code::invalid_argument, "the fabric has no hosts, needed is at least one");
    switches_.clear();
    hosts_.clear();
    return std::exchange(fabric_, {});
}

}  // namespace gradcoll
