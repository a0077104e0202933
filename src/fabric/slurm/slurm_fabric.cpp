// fabric/slurm/slurm_fabric.cpp - see slurm_fabric.hpp.
#include "fabric/slurm/slurm_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "fabric/host_list.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

namespace {

Status wrong_in(int line, const std::string& what) {
    return {Code::invalid_argument, fmt::format("line {}: {}", line, what)};
}

/// Checks that the name is a host list of one name, itself.
Status check_name(std::string_view name) {
    if (name.empty()) return {Code::invalid_argument, "the name of a switch is empty"};
    const Result<std::vector<std::string>> names = names_of_host_list(name, 1);
    if (names.ok() && names->front() == name) return {};
    return {Code::invalid_argument,
            fmt::format("found the name \"{}\", expected one name of up to {} bytes without "
                        "spaces, commas and brackets",
                        printable(name), max_name_bytes)};
}

}  // namespace

void SlurmFabric::note(std::string text) {
    std::vector<std::string>& notes = fabric_.fabric().notes;
    if (std::find(notes.begin(), notes.end(), text) == notes.end())
        notes.push_back(std::move(text));
}

Status SlurmFabric::add(const SlurmSwitch& entry, int line) {
    if (const Status status = check_name(entry.name); !status.ok())
        return wrong_in(line, status.message());
    const auto [first, is_new] = line_of_.try_emplace(std::string(entry.name), line);
    if (!is_new)
        return wrong_in(line, fmt::format("\"{}\" is there twice, first in line {}",
                                          printable(entry.name), first->second));
    const int upper = fabric_.switch_named(entry.name);
    for (const bool are_hosts : {false, true}) {
        const std::string_view list = are_hosts ? entry.nodes : entry.switches;
        const Status status = add_children(upper, list, are_hosts, entry.gbytes_per_s);
        if (!status.ok()) return wrong_in(line, status.message());
    }
    return {};
}

Status SlurmFabric::add_children(int upper, std::string_view list, bool are_hosts,
                                 double gbytes_per_s) {
    if (list.empty()) return {};
    if (are_hosts && equal_ignoring_case(list, "ALL")) {
        names_all_ = true;
        note("a switch has ALL nodes: those that no other one names hang below the root");
        return {};
    }
    const std::size_t left = std::size_t{max_fabric_cables} - fabric_.fabric().cables.size();
    std::vector<std::string> names =
        GRADCOLL_VALUE(names_of_host_list(list, std::min<std::size_t>(left, max_fabric_nodes)));
    for (std::string& name : names) {
        fabric_.add_cable(upper, are_hosts ? fabric_.host_named(name) : fabric_.switch_named(name),
                          gbytes_per_s);
        if (!are_hosts) named_below_.push_back(std::move(name));
    }
    if (!fabric_.within_limits()) return fabric_.take().status();
    return {};
}

Result<Fabric> SlurmFabric::take(bool flat) {
    constexpr std::size_t shown = 8;
    std::vector<std::string> unknown;
    for (std::string& name : named_below_)
        if (line_of_.emplace(name, 0).second) unknown.push_back(std::move(name));
    if (!unknown.empty())
        note(fmt::format(
            "{} switches are below others, but have no entry: {}{}", unknown.size(),
            printable(host_list_of(std::span(unknown).first(std::min(shown, unknown.size())))),
            unknown.size() > shown ? ", ..." : ""));
    fabric_.fabric().rooted = true;
    const bool has_hosts = std::any_of(fabric_.fabric().nodes.begin(), fabric_.fabric().nodes.end(),
                                       [](const Fabric::Node& node) { return node.is_host; });
    if (!has_hosts && (flat || names_all_)) return std::exchange(fabric_.fabric(), {});
    return fabric_.take();
}

std::optional<double> gbytes_per_s_of_link_speed(std::string_view text) {
    constexpr double most_gbits_without_unit = 1600;
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc() || !(number > 0)) return std::nullopt;
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (unit.empty())
        return number <= most_gbits_without_unit ? std::optional(number / 8) : std::nullopt;
    constexpr std::array<std::pair<char, double>, 3> prefixes{{{'m', 1e-3}, {'g', 1}, {'t', 1e3}}};
    const auto prefix = std::find_if(prefixes.begin(), prefixes.end(),
                                     [&](const auto& p) { return p.first == lower(unit[0]); });
    if (prefix == prefixes.end()) return std::nullopt;
    unit.remove_prefix(1);
    const bool bytes = unit == "B/s" || unit == "B" || unit == "Bps";
    const bool bits = unit.empty() || unit == "b" || unit == "b/s" || unit == "bps" ||
                      equal_ignoring_case(unit, "bit") || equal_ignoring_case(unit, "bit/s");
    const double gbytes = number * prefix->second / (bytes ? 1 : 8);
    return (bytes || bits) && gbytes <= 1e9 ? std::optional(gbytes) : std::nullopt;
}

}  // namespace gradcoll
