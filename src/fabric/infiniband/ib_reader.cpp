#include "fabric/infiniband/ib_reader.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "fabric/lines.hpp"

namespace gradcoll {
namespace {

/// Each speed has these GB/s for one lane.
constexpr std::pair<std::string_view, double> lane_speeds[] = {
    {"SDR", 0.25}, {"DDR", 0.5},   {"QDR", 1.0},  {"FDR10", 10.3125 / 8 * 64 / 66},
    {"FDR", 1.7},  {"EDR", 3.125}, {"HDR", 6.25}, {"NDR", 12.5},
    {"XDR", 25.0}};
constexpr std::string_view unnamed[] = {"Mellanox", "Technologies", "NVIDIA",
                                        "Voltaire", "QLogic",       "localhost"};

bool is_unnamed(std::string_view word) {
    return std::find(std::begin(unnamed), std::end(unnamed), word) != std::end(unnamed);
}

/// Returns the first few with their counts: "'MT4129 ConnectX7' (29), 'Aggregation Node' (40)".
std::string counted(const std::map<std::string, int>& counts) {
    std::string text;
    int listed = 0;
    for (const auto& [what, count] : counts) {
        if (++listed > 4) return text + ", ...";
        text += (text.empty() ? "\"" : ", \"") + printable(what) + "\" x" + std::to_string(count);
    }
    return text;
}

}  // namespace

std::optional<double> ib_gbytes_per_s(std::string_view width, std::string_view speed) {
    if (width.empty() || width.back() != 'x') return std::nullopt;
    const std::optional<int> lanes = number_in(width.substr(0, width.size() - 1));
    constexpr int widths[] = {1, 2, 4, 8, 12};
    if (!lanes || std::find(std::begin(widths), std::end(widths), *lanes) == std::end(widths))
        return std::nullopt;
    for (const auto& [name, gbytes_per_s] : lane_speeds)
        if (speed == name) return *lanes * gbytes_per_s;
    return 0;
}

std::optional<std::string_view> ib_host_of(std::string_view description) {
    const std::vector<std::string_view> words = words_of(description);
    if (words.empty() || std::any_of(words.begin(), words.end(), is_unnamed)) return std::nullopt;
    return words.front();
}

std::string ib_switch_name_of(std::string_view description) {
    const std::size_t semicolon = description.find(';');
    const std::size_t colon = description.find(':', semicolon == description.npos ? 0 : semicolon);
    if (semicolon != description.npos && colon != description.npos) {
        const std::string name(trimmed(description.substr(semicolon + 1, colon - semicolon - 1)));
        const std::size_t slash = description.find('/', colon);
        const auto unit = slash == description.npos ? "U1" : description.substr(slash + 1);
        return unit == "U1" ? name : name + "/" + std::string(trimmed(unit));
    }
    if (const std::size_t hash = description.rfind('#'); hash != description.npos)
        return std::string(trimmed(description.substr(hash + 1)));
    const std::vector<std::string_view> words = words_of(description);
    if (std::any_of(words.begin(), words.end(), is_unnamed)) return {};
    return std::string(trimmed(description));
}

std::size_t IbReader::device(Kind kind, std::string_view guid) {
    const auto [place, is_new] = device_of_guid_.try_emplace(std::string(guid), devices_.size());
    if (is_new) devices_.push_back({kind, place->first, {}});
    return place->second;
}

void IbReader::describe(Kind kind, std::string_view guid, std::string_view description) {
    Device& described = devices_[device(kind, guid)];
    if (described.description.empty()) described.description = description;
}

void IbReader::connect(const Port& a, const Port& b, double gbytes_per_s) {
    const std::size_t device_a = device(a.kind, a.guid), device_b = device(b.kind, b.guid);
    const auto key = [](const Port& port) {
        return std::string(port.guid) + " " + std::to_string(port.number);
    };
    if (ports_seen_.contains(key(a)) || ports_seen_.contains(key(b))) return;
    ports_seen_.insert(key(a));
    ports_seen_.insert(key(b));
    cables_.push_back({device_a, device_b, gbytes_per_s});
}

std::vector<int> IbReader::nodes_of_devices(FabricBuilder& builder) {
    std::unordered_map<std::string, int> times;
    for (const Device& device : devices_)
        if (device.kind == Kind::fabric_switch) ++times[ib_switch_name_of(device.description)];
    std::map<std::string, int> left_out;
    std::vector<int> nodes(devices_.size(), -1);
    for (std::size_t d = 0; d < devices_.size(); ++d) {
        const Device& device = devices_[d];
        if (device.kind == Kind::fabric_switch) {
            const std::string name = ib_switch_name_of(device.description);
            nodes[d] = builder.switch_named(name.empty()       ? device.guid
                                            : times[name] == 1 ? name
                                                               : name + "/" + device.guid);
        } else if (const auto host = ib_host_of(device.description);
                   host && device.kind == Kind::adapter) {
            nodes[d] = builder.host_named(*host);
        } else {
            ++left_out[device.description];
        }
    }
    int count = 0;
    for (const auto& [description, times_there] : left_out) count += times_there;
    if (count > 0)
        builder.fabric().notes.push_back(
            std::to_string(count) +
            " InfiniBand devices that name no host are left out: " + counted(left_out));
    return nodes;
}

Result<Fabric> IbReader::take() {
    FabricBuilder builder;
    const std::vector<int> nodes = nodes_of_devices(builder);
    for (const Cable& cable : cables_)
        if (nodes[cable.a] >= 0 && nodes[cable.b] >= 0)
            builder.add_cable(nodes[cable.a], nodes[cable.b], cable.gbytes_per_s);
    return builder.take();
}

}  // namespace gradcoll
