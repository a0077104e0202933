#include "fabric/fabric.hpp"

#include <utility>

#include "base/text.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

void FabricBuilder::refuse(const std::string& found, const std::string& allowed) {
    if (trouble_.empty()) trouble_ = "the fabric has " + found + ", allowed are " + allowed;
}

int FabricBuilder::named(std::unordered_map<std::string, int>& ids, std::string_view name,
                         bool is_host) {
    if (name.empty() || name.size() > max_name_bytes) {
        refuse("a name of " + std::to_string(name.size()) + " bytes (\"" + printable(name) + "\")",
               "1 to " + std::to_string(max_name_bytes));
        return 0;
    }
    const auto known = ids.find(std::string(name));
    if (known != ids.end()) return known->second;
    if (fabric_.nodes.size() >= max_fabric_nodes) {
        refuse("more than " + std::to_string(max_fabric_nodes) + " switches and hosts",
               "up to that many");
        return 0;
    }
    fabric_.nodes.push_back({std::string(name), is_host});
    return ids.emplace(name, static_cast<int>(fabric_.nodes.size()) - 1).first->second;
}

int FabricBuilder::switch_named(std::string_view name) {
    return named(switches_, name, false);
}

int FabricBuilder::host_named(std::string_view name) {
    return named(hosts_, name, true);
}

void FabricBuilder::add_cable(int a, int b, double gbytes_per_s, double latency_us) {
    if (fabric_.cables.size() < max_fabric_cables)
        fabric_.cables.push_back({a, b, gbytes_per_s, latency_us});
    else
        refuse("more than " + std::to_string(max_fabric_cables) + " cables", "up to that many");
}

Result<Fabric> FabricBuilder::take() {
    if (!within_limits()) return Status(Code::invalid_argument, trouble_);
    if (hosts_.empty())
        return Status(Code::invalid_argument, "the fabric has no hosts, needed is at least one");
    switches_.clear();
    hosts_.clear();
    return std::exchange(fabric_, {});
}

}  // namespace gradcoll
