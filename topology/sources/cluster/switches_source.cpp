// topology/sources/cluster/switches_source.cpp - see switches_source.hpp.
#include "topology/sources/cluster/switches_source.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/files.hpp"
#include "fabric/formats.hpp"
#include "topology/files.hpp"

namespace gradcoll {

namespace {

Status about(const std::string& what, const Status& status) {
    return {status.code(), fmt::format("{}: {}", what, status.message())};
}

/// Returns the text of a file, or of all subnets in a folder. Their devices have globally unique
/// numbers, so one host's adapters in several subnets are recognised.
Result<std::string> fabric_text_at(const std::string& path) {
    const PathContent content = GRADCOLL_VALUE(content_at(path));
    if (!content.is_folder) return read_file(path);
    std::string text;
    for (const std::string& name : content.subnet_names())
        text += GRADCOLL_VALUE(read_file(path + "/" + name)) + "\n";
    return text;
}

}  // namespace

SwitchesSource::SwitchesSource(Find find, Needs needs)
    : find_(std::move(find)), needs_(std::move(needs)) {}

Status SwitchesSource::learn(const Job& job, TreeDraft& draft) {
    Result<Switches> switches = find_(job, draft.notes);
    if (switches.ok()) draft.switches = std::move(*switches);
    return switches.status();
}

Result<Switches> switches_of(const Result<Fabric>& fabric, const std::string& where,
                             const std::string& origin) {
    if (!fabric.ok()) return about(where, fabric.status());
    Result<SwitchTree> tree = switch_tree(*fabric);
    if (!tree.ok()) return about(where, tree.status());
    return Switches{std::move(*tree), origin};
}

Result<Switches> switches_from_file(const std::string& path) {
    const std::string text = GRADCOLL_VALUE(fabric_text_at(path));
    const FabricFormat* format = fabric_format_of(text);
    if (format == nullptr)
        return Status(Code::invalid_argument,
                      fmt::format("file \"{}\" holds no switches in a format that is known", path));
    return switches_of(format->read(text), fmt::format("file \"{}\"", path),
                       fmt::format("{} {}", format->name, path));
}

}  // namespace gradcoll
