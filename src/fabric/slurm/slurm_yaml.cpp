// fabric/slurm/slurm_yaml.cpp - reads topology.yaml of SLURM 25.05 to 26.11: several
// topologies, of which one is used.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "fabric/formats.hpp"
#include "fabric/slurm/slurm.hpp"
#include "fabric/slurm/slurm_fabric.hpp"

namespace gradcoll {

namespace {

constexpr std::size_t max_yaml_bytes = std::size_t{16} << 20;
constexpr int max_yaml_depth = 16;  // SLURM's files have five levels

Status wrong_at(const YAML::Node& node, const std::string& what) {
    const int line = node.IsDefined() ? std::max(node.Mark().line, -1) + 1 : 0;
    return {Code::invalid_argument, line > 0 ? fmt::format("line {}: {}", line, what) : what};
}

/// Refuses texts that nest deeper than any of SLURM's, since the YAML library recurses once for
/// each level. Brackets nest, and so do "- - -" within a line and lines that are indented further
/// and further. Brackets in quotes and host lists count, too, but these are closed again.
Status check_depth(std::string_view text) {
    constexpr int max_indentation = 100;
    int line = 1, brackets = 0, spaces = 0, signs = 0;
    bool at_start = true;
    for (const char c : text) {
        if (c == '[' || c == '{') ++brackets;
        if (c == ']' || c == '}') brackets = std::max(0, brackets - 1);
        const bool is_sign = c == '-' || c == '?' || c == ':';
        spaces += at_start && c == ' ' ? 1 : 0;
        signs += at_start && is_sign ? 1 : 0;
        at_start = c == '\n' || (at_start && (is_sign || c == ' '));
        if (c == '\n') {
            ++line;
            spaces = signs = 0;
        }
        if (std::max(brackets, signs) > max_yaml_depth || spaces > max_indentation)
            return {Code::invalid_argument,
                    fmt::format("line {}: more than {} levels within each other, or {} spaces",
                                line, max_yaml_depth, max_indentation)};
    }
    return {};
}

class YamlReader {
  public:
    Result<Fabric> read(const YAML::Node& topologies) {
        if (!topologies.IsSequence() || topologies.size() == 0)
            return wrong_at(topologies, "expected a list of topologies, such as \"- topology: a\"");
        for (const YAML::Node& topology : topologies)
            if (!topology.IsMap()) return wrong_at(topology, "expected \"topology: NAME\"");
        const YAML::Node chosen = choose(topologies);
        for (const auto& [type, list, name] : list_types)
            if (chosen[type]) GRADCOLL_TRY(entries(chosen[type], list, name));
        return fabric_.take(chosen["flat"].IsDefined());
    }

  private:
    struct ListType {
        const char *type, *list, *name;
    };
    static constexpr std::array<ListType, 4> list_types{{{"tree", "switches", "switch"},
                                                         {"block", "blocks", "block"},
                                                         {"ring", "rings", "ring"},
                                                         {"torus3d", "toruses", "name"}}};

    static bool has_switches(const YAML::Node& topology) {
        return std::any_of(list_types.begin(), list_types.end(),
                           [&](const ListType& type) { return topology[type.type].IsDefined(); });
    }
    static std::string name_of(const YAML::Node& topology) {
        const YAML::Node name = topology["topology"];
        return name && name.IsScalar() ? printable(name.Scalar()) : "without a name";
    }

    /// Returns the cluster's default; if that is flat (or there is none), the first that has
    /// switches, else the first.
    YAML::Node choose(const YAML::Node& topologies) {
        std::optional<YAML::Node> chosen, with_switches;
        for (const YAML::Node& topology : topologies) {
            const YAML::Node is_default = topology["cluster_default"];
            if (!chosen && is_default && is_default.IsScalar() &&
                equal_ignoring_case(is_default.Scalar(), "true"))
                chosen.emplace(topology);
            if (!with_switches && has_switches(topology)) with_switches.emplace(topology);
        }
        if (with_switches && (!chosen || !has_switches(*chosen))) chosen.emplace(*with_switches);
        const YAML::Node taken = chosen ? *chosen : topologies[0];
        if (topologies.size() > 1)
            fabric_.note(
                fmt::format("topology \"{}\" is taken, the other {} of the file are left "
                            "out",
                            name_of(taken), topologies.size() - 1));
        return taken;
    }

    Status entries(const YAML::Node& topology, const char* list, const char* name) {
        if (!topology.IsMap() || !topology[list] || !topology[list].IsSequence())
            return wrong_at(topology, fmt::format("expected \"{}:\" and a list", list));
        if (topology["block_sizes"])
            fabric_.note("block_sizes are sizes to plan jobs with, and no switches: not used");
        for (const char* each : {"ring", "torus"})
            if (std::string_view(list).starts_with(each))
                fabric_.note(fmt::format("a {} is taken as one switch", each));
        for (const YAML::Node& entry : topology[list]) GRADCOLL_TRY(add(entry, name));
        return {};
    }

    Status add(const YAML::Node& entry, const char* name) {
        if (!entry.IsMap() || !entry[name])
            return wrong_at(entry, fmt::format("expected \"{}: NAME\"", name));
        const std::string own = GRADCOLL_VALUE(text_of(entry, name));
        const std::string children = GRADCOLL_VALUE(text_of(entry, "children"));
        std::string nodes = GRADCOLL_VALUE(text_of(entry, "nodes"));
        if (const YAML::Node regions = entry["regions"]) {
            if (!nodes.empty()) return wrong_at(entry, "found both \"nodes:\" and \"regions:\"");
            nodes = GRADCOLL_VALUE(nodes_of(regions));
        }
        return fabric_.add({own, children, nodes}, entry.Mark().line + 1);
    }

    /// Returns the text below a key; empty if there is none.
    static Result<std::string> text_of(const YAML::Node& entry, const char* key) {
        const YAML::Node value = entry[key];
        if (!value || value.IsNull()) return std::string();
        if (!value.IsScalar())
            return wrong_at(value, fmt::format("expected a host list after \"{}:\"", key));
        return value.Scalar();
    }

    /// Returns the nodes of all regions of a torus as one host list.
    static Result<std::string> nodes_of(const YAML::Node& regions) {
        if (!regions.IsSequence()) return wrong_at(regions, "expected \"regions:\" and a list");
        std::string all;
        for (const YAML::Node& region : regions) {
            if (!region.IsMap() || !region["nodes"])
                return wrong_at(region, "expected a region with \"nodes:\"");
            const std::string nodes = GRADCOLL_VALUE(text_of(region, "nodes"));
            all += (all.empty() ? "" : ",") + nodes;
        }
        return all;
    }

    SlurmFabric fabric_;
};

Result<Fabric> read_yaml(std::string_view text) {
    if (text.size() > max_yaml_bytes)
        return Status(Code::invalid_argument,
                      fmt::format("the text has more than {} MiB", max_yaml_bytes >> 20));
    GRADCOLL_TRY(check_depth(text));
    try {
        return YamlReader().read(YAML::Load(std::string(text)));
    } catch (const YAML::Exception& error) {
        return Status(
            Code::invalid_argument,
            fmt::format("line {}: {}", std::max(error.mark.line, 0) + 1, printable(error.msg)));
    }
}

bool is_slurm_yaml(std::string_view line) {
    constexpr std::string_view key = "topology:";
    return line == "---" || line.starts_with("--- ") ||
           equal_ignoring_case(line.substr(0, key.size()), key) ||
           (line.front() == '-' && line.find(':') != std::string_view::npos);
}

}  // namespace

Result<Fabric> fabric_from_slurm_yaml(std::string_view text) {
    Result<Fabric> fabric = read_yaml(text);
    if (fabric.ok()) return fabric;
    return Status(fabric.status().code(), "topology.yaml: " + fabric.status().message());
}

FabricFormat slurm_yaml_fabric_format() {
    return {.name = "topology.yaml",
            .family = "SLURM",
            .listed = "",
            .is_line = is_slurm_yaml,
            .read = fabric_from_slurm_yaml};
}

}  // namespace gradcoll
