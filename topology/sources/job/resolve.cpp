// topology/sources/job/resolve.cpp - what the paths behind `file:` are.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "topology/fabric/formats.hpp"
#include "topology/probe/cache.hpp"
#include "topology/sources/job/written.hpp"

namespace gradcoll {

namespace {

enum class Content : std::uint8_t {
    folder,
    tree_json,
    hwloc_xml,
    nccl_xml,
    fabric,
    cache,
    unknown
};

/// The first element of an XML text, without comments and declarations.
std::string_view first_element(std::string_view text) {
    for (;;) {
        const std::size_t open = text.find('<');
        if (open == text.npos || open + 1 == text.size()) return {};
        text.remove_prefix(open + 1);
        const bool comment = text.starts_with("!--");
        if (!comment && text.front() != '?' && text.front() != '!')
            return text.substr(0, text.find_first_of(" \t\r\n/>"));
        const std::string_view end = comment ? "-->" : ">";
        const std::size_t close = text.find(end);
        if (close == text.npos) return {};
        text.remove_prefix(close + end.size());
    }
}

Content content_of(std::string_view text) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    const std::string_view said = trimmed(text);
    if (said.starts_with('<')) {
        const std::string_view element = first_element(said);
        return element == "topology" ? Content::hwloc_xml
               : element == "system" ? Content::nccl_xml
                                     : Content::unknown;
    }
    if (is_probe_cache(said)) return Content::cache;
    if (said.starts_with('{')) return Content::tree_json;
    return fabric_format_of(text) ? Content::fabric : Content::unknown;
}

Result<Content> content_at(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return Content::folder;
    const Result<std::string> text = read_file(path);
    if (!text.ok()) return text.status();
    return content_of(*text);
}

const char* name_of(Content content) {
    switch (content) {
        case Content::folder:
            return "is a folder (of hosts' XML files)";
        case Content::tree_json:
            return "holds a whole tree in JSON";
        case Content::hwloc_xml:
            return "holds hwloc XML";
        case Content::nccl_xml:
            return "holds NCCL XML";
        case Content::fabric:
            return "holds switches";
        case Content::cache:
            return "holds what a probe measured";
        case Content::unknown:
            break;
    }
    return "holds nothing that is known";
}

constexpr const char* switches =
    "switches (SLURM's topology.conf or topology.yaml, ibnetdiscover, netloc's ib-subnet, CSV of "
    "host,switch, MPICH coordinates, a probe's cache)";
constexpr const char* insides = "a folder of hosts' XML files, hwloc XML or NCCL XML";

Status not_allowed(const std::string& path, Content content, const std::string& allowed) {
    return {Code::invalid_argument,
            fmt::format("\"{}\" {}; expected {}", path, name_of(content), allowed)};
}

bool take_inside(Content content, InsideSource& inside) {
    switch (content) {
        case Content::folder:
            inside.form = InsideSource::Form::hosts;
            return true;
        case Content::hwloc_xml:
            inside.form = InsideSource::Form::xml;
            return true;
        case Content::nccl_xml:
            inside.form = InsideSource::Form::nccl;
            return true;
        default:
            return false;
    }
}

bool take_between(Content content, BetweenSource& between) {
    if (content != Content::fabric && content != Content::cache) return false;
    between.form =
        content == Content::fabric ? BetweenSource::Form::fabric : BetweenSource::Form::cache;
    return true;
}

/// gpus:PATH: what is neither a folder nor XML is a hosts file.
Status resolve_gpus(InsideSource& inside) {
    const Result<Content> content = content_at(inside.value);
    if (!content.ok()) return content.status();
    inside.on_gpus = true;
    if (!take_inside(*content, inside)) inside.form = InsideSource::Form::hosts;
    return {};
}

Status resolve_inside(InsideSource& inside) {
    if (inside.form == InsideSource::Form::gpus) return resolve_gpus(inside);
    if (inside.form != InsideSource::Form::file) return {};
    const Result<Content> content = content_at(inside.value);
    if (!content.ok()) return content.status();
    return take_inside(*content, inside) ? Status() : not_allowed(inside.value, *content, insides);
}

Status resolve_between(BetweenSource& between) {
    if (between.form != BetweenSource::Form::file) return {};
    const Result<Content> content = content_at(between.value);
    if (!content.ok()) return content.status();
    return take_between(*content, between) ? Status()
                                           : not_allowed(between.value, *content, switches);
}

/// file:PATH alone: a whole tree, or what there is of a machine.
Status resolve_whole(WrittenSource& source) {
    if (source.form != SourceForm::file) return {};
    const Result<Content> content = content_at(source.value);
    if (!content.ok()) return content.status();
    source.form = *content == Content::tree_json ? SourceForm::json : SourceForm::machine;
    if (source.form == SourceForm::json) return {};
    const std::string path = std::exchange(source.value, {});
    source.inside.value = source.between.value = path;
    source.between.form = BetweenSource::Form::none;
    if (take_inside(*content, source.inside) || take_between(*content, source.between)) return {};
    return not_allowed(path, *content, fmt::format("a tree in JSON, {}, or {}", insides, switches));
}

}  // namespace

Result<WrittenSource> resolved(WrittenSource source) {
    Status status = resolve_whole(source);
    if (status.ok()) status = resolve_inside(source.inside);
    if (status.ok()) status = resolve_between(source.between);
    if (status.ok()) return source;
    return Status(status.code(), fmt::format("{}: {}", source.origin, status.message()));
}

}  // namespace gradcoll
