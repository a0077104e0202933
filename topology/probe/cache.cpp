// topology/probe/cache.cpp - writes and reads the JSON form of a switch tree.
#include "topology/probe/cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "topology/json_value.hpp"

namespace gradcoll {

namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr const char* version_key = "gradcoll_probe";
constexpr int cache_version = 1;
constexpr std::size_t most_notes = 1024;

// ---- writing

void add_uplink(OrderedJson& json, const Uplink& uplink) {
    if (uplink.bandwidth_gbytes_per_s > 0)
        json["bandwidth_gbytes_per_s"] = uplink.bandwidth_gbytes_per_s;
    if (uplink.latency_us > 0) json["latency_us"] = uplink.latency_us;
}

// ---- reading

Status wrong_cache(const std::string& place, const std::string& what) {
    return {Code::invalid_argument, fmt::format("probe cache: {}: {}", place, what)};
}

/// Returns null if the key is absent.
const Json* member(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

Status read_figure(const Json& object, const char* key, const std::string& place, double& out) {
    const Json* value = member(object, key);
    if (value == nullptr) return {};
    if (!value->is_number() || !std::isfinite(value->get<double>()) || value->get<double>() < 0)
        return wrong_cache(place + "/" + key,
                           fmt::format("found {}, expected a finite number that is not "
                                       "negative",
                                       shown(*value)));
    out = value->get<double>();
    return {};
}

Status read_uplink(const Json& object, const std::string& place, Uplink& out) {
    GRADCOLL_TRY(read_figure(object, "bandwidth_gbytes_per_s", place, out.bandwidth_gbytes_per_s));
    return read_figure(object, "latency_us", place, out.latency_us);
}

/// Reads the index of a switch in [0, end).
Status read_index(const Json& object, const char* key, const std::string& place, std::size_t end,
                  int& out) {
    const Json* value = member(object, key);
    if (value == nullptr || !value->is_number_unsigned() || value->get<std::uint64_t>() >= end)
        return wrong_cache(place + "/" + key,
                           fmt::format("found {}, expected a switch from 0 to {}",
                                       value == nullptr ? "nothing" : shown(*value),
                                       static_cast<std::int64_t>(end) - 1));
    out = value->get<int>();
    return {};
}

Status read_name(const Json* value, const std::string& place, std::string& out) {
    if (value == nullptr || !value->is_string() ||
        value->get_ref<const std::string&>().size() > max_name_bytes)
        return wrong_cache(
            place, fmt::format("found {}, expected a string of at most {} bytes",
                               value == nullptr ? "nothing" : shown(*value), max_name_bytes));
    out = value->get<std::string>();
    return {};
}

/// Reads a switch. Parents must come before their children, so that there is no cycle.
Status read_switch(const Json& json, std::size_t index, std::vector<int>& depths, SwitchTree& out) {
    const std::string place = fmt::format("/switches/{}", index);
    if (!json.is_object())
        return wrong_cache(place, fmt::format("found {}, expected an object", shown(json)));
    SwitchTree::Switch& made = out.switches.emplace_back();
    GRADCOLL_TRY(read_name(member(json, "name"), place + "/name", made.name));
    GRADCOLL_TRY(read_uplink(json, place, made.uplink));
    if (index == 0) {
        if (member(json, "parent") != nullptr)
            return wrong_cache(place + "/parent", "the first switch is the root and has no parent");
        depths.push_back(0);
        return {};
    }
    GRADCOLL_TRY(read_index(json, "parent", place, index, made.parent));
    depths.push_back(depths[static_cast<std::size_t>(made.parent)] + 1);
    if (depths.back() >= max_tree_depth)
        return wrong_cache(place, fmt::format("is deeper than {} levels", max_tree_depth));
    return {};
}

Status read_switches(const Json& json, SwitchTree& out) {
    const Json* switches = member(json, "switches");
    if (switches == nullptr || !switches->is_array() || switches->empty() ||
        switches->size() > static_cast<std::size_t>(max_fabric_nodes))
        return wrong_cache("/switches",
                           fmt::format("expected an array of 1 to {} switches", max_fabric_nodes));
    std::vector<int> depths;
    for (std::size_t i = 0; i < switches->size(); ++i)
        GRADCOLL_TRY(read_switch((*switches)[i], i, depths, out));
    return {};
}

Status read_hosts(const Json& json, SwitchTree& out) {
    const Json* hosts = member(json, "hosts");
    if (hosts == nullptr || !hosts->is_object() || hosts->empty() ||
        hosts->size() > static_cast<std::size_t>(max_fabric_nodes))
        return wrong_cache("/hosts",
                           fmt::format("expected an object of 1 to {} hosts", max_fabric_nodes));
    for (const auto& [name, host] : hosts->items()) {
        const std::string place = "/hosts/" + name.substr(0, 80);
        if (name.size() > max_name_bytes)
            return wrong_cache(place,
                               fmt::format("the name has more than {} bytes", max_name_bytes));
        if (!host.is_object())
            return wrong_cache(place, fmt::format("found {}, expected an object", shown(host)));
        SwitchTree::Host& made = out.hosts[name];
        GRADCOLL_TRY(read_index(host, "at", place, out.switches.size(), made.at));
        GRADCOLL_TRY(read_uplink(host, place, made.uplink));
    }
    return {};
}

Status read_notes(const Json& json, SwitchTree& out) {
    const Json* notes = member(json, "notes");
    if (notes == nullptr) return {};
    if (!notes->is_array() || notes->size() > most_notes)
        return wrong_cache("/notes",
                           fmt::format("expected an array of at most {} strings", most_notes));
    for (std::size_t i = 0; i < notes->size(); ++i)
        GRADCOLL_TRY(
            read_name(&(*notes)[i], fmt::format("/notes/{}", i), out.notes.emplace_back()));
    return {};
}

}  // namespace

std::string probe_cache_text(const SwitchTree& switches) {
    OrderedJson json;
    json[version_key] = cache_version;
    json["by_rank"] = switches.by_rank;
    json["notes"] = switches.notes;
    json["switches"] = OrderedJson::array();
    for (const auto& one : switches.switches) {
        OrderedJson& entry = json["switches"].emplace_back();
        entry["name"] = one.name;
        if (one.parent >= 0) entry["parent"] = one.parent;
        add_uplink(entry, one.uplink);
    }
    OrderedJson& hosts = json["hosts"] = OrderedJson::object();
    const std::map<std::string, SwitchTree::Host> in_order(switches.hosts.begin(),
                                                           switches.hosts.end());
    for (const auto& [name, host] : in_order) {
        OrderedJson& entry = hosts[name];
        entry["at"] = host.at;
        add_uplink(entry, host.uplink);
    }
    return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

bool is_probe_cache(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{' &&
           text.substr(0, 4096).find(fmt::format("\"{}\"", version_key)) != std::string_view::npos;
}

Result<SwitchTree> switches_from_probe_cache(std::string_view text) {
    const Result<Json> found_json = json_in(text);
    if (!found_json.ok()) return wrong_cache("/", found_json.status().message());
    const Json& json = *found_json;
    if (!json.is_object()) return wrong_cache("/", "is no JSON object");
    const Json* found = member(json, version_key);
    if (found == nullptr || *found != cache_version)
        return wrong_cache(
            fmt::format("/{}", version_key),
            fmt::format("found {}, expected {}", found == nullptr ? "nothing" : shown(*found),
                        cache_version));
    SwitchTree tree;
    GRADCOLL_TRY(read_notes(json, tree));
    GRADCOLL_TRY(read_switches(json, tree));
    GRADCOLL_TRY(read_hosts(json, tree));
    if (const Json* by_rank = member(json, "by_rank"); by_rank != nullptr) {
        if (!by_rank->is_boolean())
            return wrong_cache("/by_rank",
                               fmt::format("found {}, expected true or false", shown(*by_rank)));
        tree.by_rank = by_rank->get<bool>();
    }
    return tree;
}

}  // namespace gradcoll
