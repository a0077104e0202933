// topology/sources/job/resolve.cpp - what the paths behind `file:` are for.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "topology/sources/job/written.hpp"

namespace gradcoll {

namespace {

/// The row that takes what is at a path; null: none does.
const SourceRow* row_for(const PathContent& content) {
    const auto table = source_table();
    const auto row = std::find_if(table.begin(), table.end(),
                                  [&](const SourceRow& r) { return r.holds && r.holds(content); });
    return row == table.end() ? nullptr : &*row;
}

/// Beside another source a path is for its own part; alone it may be for any.
std::string allowed_at(Part part) {
    if (part != Part::whole) return allowed_contents(part);
    return fmt::format("{}, {}, or {}", allowed_contents(Part::whole),
                       allowed_contents(Part::inside), allowed_contents(Part::between));
}

Status resolve(WrittenPart& written) {
    if (written.row->make) return {};
    const Result<PathContent> content = content_at(written.value);
    if (!content.ok()) return content.status();
    const Part part = written.row->part;
    const SourceRow* row = row_for(*content);
    if (!row || (part != Part::whole && row->part != part))
        return {Code::invalid_argument,
                fmt::format("\"{}\" {}; expected {}", written.value,
                            row ? row->found : "holds nothing that is known", allowed_at(part))};
    written.row = row;
    return {};
}

/// A part of a machine that was written alone has the other one by its side.
void complete(std::vector<WrittenPart>& parts) {
    const Part only = parts.front().row->part;
    if (parts.size() > 1 || only == Part::whole) return;
    if (only == Part::inside)
        parts.push_back({&source_row(Part::between, "none"), {}});
    else
        parts.insert(parts.begin(), {&source_row(Part::inside, "hwloc"), {}});
}

}  // namespace

Result<WrittenSource> resolved(WrittenSource source) {
    for (WrittenPart& part : source.parts)
        if (const Status status = resolve(part); !status.ok())
            return Status(status.code(), fmt::format("{}: {}", source.origin, status.message()));
    complete(source.parts);
    return source;
}

}  // namespace gradcoll
