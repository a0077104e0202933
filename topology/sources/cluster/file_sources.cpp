// topology/sources/cluster/file_sources.cpp - see file_sources.hpp.
#include "topology/sources/cluster/file_sources.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"
#include "topology/fabric/formats.hpp"
#include "topology/files.hpp"
#include "topology/probe/cache.hpp"
#include "topology/sources/cluster/sources.hpp"

namespace gradcoll {

namespace {

Status about(const std::string& what, const Status& status) {
    return {status.code(), fmt::format("{}: {}", what, status.message())};
}

class FileSource : public TreeSource {
  public:
    using Read = Result<Switches>(const std::string& path);
    FileSource(std::string path, Read& read) : path_(std::move(path)), read_(read) {}

    Needs needs() const override { return {Reports::host_names, false, {}}; }
    Status learn(const Job&, TreeDraft& draft) override {
        Result<Switches> switches = read_(path_);
        if (switches.ok()) draft.switches = std::move(*switches);
        return switches.status();
    }

  private:
    std::string path_;
    Read& read_;
};

class NoSwitches : public TreeSource {
  public:
    Needs needs() const override { return {Reports::host_names, false, {}}; }
    Status learn(const Job&, TreeDraft&) override { return {}; }
};

}  // namespace

Result<Switches> switches_of(const Result<Fabric>& fabric, const std::string& where,
                             const std::string& origin) {
    if (!fabric.ok()) return about(where, fabric.status());
    Result<SwitchTree> tree = switch_tree(*fabric);
    if (!tree.ok()) return about(where, tree.status());
    return Switches{std::move(*tree), origin};
}

Result<Switches> switches_from_file(const std::string& path) {
    const Result<std::string> text = read_file(path);
    if (!text.ok()) return text.status();
    const auto format = fabric_format_of(*text);
    if (!format)
        return Status(Code::invalid_argument,
                      fmt::format("file \"{}\" holds no switches in a format that is known", path));
    return switches_of(fabric_from(*text, *format), fmt::format("file \"{}\"", path),
                       fmt::format("{} {}", name_of(*format), path));
}

Result<Switches> switches_from_cache(const std::string& path) {
    const Result<std::string> text = read_file(path);
    if (!text.ok()) return text.status();
    Result<SwitchTree> tree = switches_from_probe_cache(*text);
    if (!tree.ok()) return about(fmt::format("probe cache \"{}\"", path), tree.status());
    return Switches{std::move(*tree), fmt::format("measurements in {}", path)};
}

std::unique_ptr<TreeSource> no_switches(std::string) {
    return std::make_unique<NoSwitches>();
}

std::unique_ptr<TreeSource> fabric_source(std::string path) {
    return std::make_unique<FileSource>(std::move(path), switches_from_file);
}

std::unique_ptr<TreeSource> probe_cache_source(std::string path) {
    return std::make_unique<FileSource>(std::move(path), switches_from_cache);
}

bool holds_fabric(const PathContent& content) {
    return !content.is_folder && !content.begins_with('<') && !content.begins_with('{') &&
           fabric_format_of(content.text).has_value();
}

bool holds_probe_cache(const PathContent& content) {
    return is_probe_cache(trimmed(content.text));
}

}  // namespace gradcoll
