#include "topology/fabric/formats.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "topology/fabric/lines.hpp"
#include "topology/fabric/slurm.hpp"

namespace gradcoll {
namespace {

struct Format {
    FabricFormat format;
    std::string_view name;
    /// True if a line that is neither empty nor a comment can only be of this format.
    bool (*is_line)(std::string_view line);
    Result<Fabric> (*read)(std::string_view text);
};

bool starts_ignoring_case(std::string_view line, std::string_view begin) {
    return equal_ignoring_case(line.substr(0, begin.size()), begin);
}

bool is_slurm_conf(std::string_view line) {
    return starts_ignoring_case(line, "switchname=") || starts_ignoring_case(line, "blockname=") ||
           starts_ignoring_case(line, "blocksizes=");
}

bool is_slurm_yaml(std::string_view line) {
    return line == "---" || line.starts_with("--- ") || starts_ignoring_case(line, "topology:") ||
           (line.front() == '-' && line.find(':') != std::string_view::npos);
}

bool is_ibnetdiscover(std::string_view line) {
    for (const std::string_view start :
         {"vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid="})
        if (line.starts_with(start)) return true;
    const std::vector<std::string_view> words = words_of(line);
    return words.size() >= 3 && (words[0] == "Switch" || words[0] == "Ca" || words[0] == "Rt") &&
           number_in(words[1]) && words[2].front() == '"';
}

bool is_ib_subnet(std::string_view line) {
    if (line.starts_with("DR path")) return true;
    const std::vector<std::string_view> words = words_of(line);
    return words.size() >= 6 && (words[0] == "SW" || words[0] == "CA" || words[0] == "RT") &&
           number_in(words[1]) && number_in(words[2]) && words[3].starts_with("0x");
}

bool is_csv(std::string_view line) {
    return line.find(',') != std::string_view::npos;
}

bool is_coordinates(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    return words.size() == 4 && words[0].back() == ':' &&
           number_in(words[0].substr(0, words[0].size() - 1)) && number_in(words[1]) &&
           number_in(words[2]) && number_in(words[3]);
}

/// In the order of FabricFormat. The table that any comma makes comes last.
constexpr std::array formats = {
    Format{FabricFormat::slurm_conf, "topology.conf", is_slurm_conf, fabric_from_slurm_conf},
    Format{FabricFormat::slurm_yaml, "topology.yaml", is_slurm_yaml, fabric_from_slurm_yaml},
    Format{FabricFormat::ibnetdiscover, "ibnetdiscover", is_ibnetdiscover,
           fabric_from_ibnetdiscover},
    Format{FabricFormat::ib_subnet, "ib-subnet", is_ib_subnet, fabric_from_ib_subnet},
    Format{FabricFormat::mpich_coordinates, "MPICH coordinates", is_coordinates,
           fabric_from_mpich_coordinates},
    Format{FabricFormat::csv, "CSV", is_csv, fabric_from_csv}};

const Format& row_of(FabricFormat format) {
    return formats[static_cast<std::size_t>(format)];
}

}  // namespace

std::string_view name_of(FabricFormat format) {
    return row_of(format).name;
}

std::optional<FabricFormat> fabric_format_of(std::string_view text) {
    // The second one counts, too: the first line of MPICH's coordinates may be anything.
    std::vector<std::string_view> first;
    for (Lines lines(text); first.size() < 2 && lines.next();) first.push_back(lines.line());
    for (const Format& format : formats)
        if (std::any_of(first.begin(), first.end(), format.is_line)) return format.format;
    return std::nullopt;
}

Result<Fabric> fabric_from(std::string_view text, FabricFormat format) {
    return row_of(format).read(text);
}

}  // namespace gradcoll
