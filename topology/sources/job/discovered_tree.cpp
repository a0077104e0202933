// topology/sources/job/discovered_tree.cpp - see discovered_tree.hpp.
#include "topology/sources/job/discovered_tree.hpp"

#include <utility>

#include "topology/bytes.hpp"

namespace gradcoll {

namespace {

bool read_notes(ByteReader& reader, std::vector<std::string>& notes) {
    std::uint32_t count = 0;
    if (!reader.number(count)) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
        std::string note;
        if (!reader.text(note, reader.size_left())) return false;
        notes.push_back(std::move(note));
    }
    return reader.size_left() == 0;
}

}  // namespace

std::string told_origin(const DiscoveredTree& tree) {
    std::string text = tree.origin;
    for (const std::string& note : tree.notes) text += "; " + note;
    return text;
}

std::string discovery_bytes(const Result<DiscoveredTree>& result) {
    ByteWriter writer;
    writer.number(static_cast<std::uint8_t>(result.ok() ? Code::ok : result.status().code()));
    writer.text(result.ok() ? result->origin : result.status().message());
    writer.text(result.ok() ? result->tree.serialize() : "");
    const std::vector<std::string> none;
    const std::vector<std::string>& notes = result.ok() ? result->notes : none;
    writer.number(static_cast<std::uint32_t>(notes.size()));
    for (const std::string& note : notes) writer.text(note);
    return writer.take();
}

Result<DiscoveredTree> discovery_from(std::string_view bytes) {
    ByteReader reader(bytes);
    std::uint8_t code = 0;
    std::string text;
    std::string tree_bytes;
    std::vector<std::string> notes;
    if (!reader.number(code) || code > static_cast<std::uint8_t>(Code::internal) ||
        !reader.text(text, bytes.size()) || !reader.text(tree_bytes, bytes.size()) ||
        !read_notes(reader, notes))
        return Status(Code::corrupt, "the topology that rank 0 sent is malformed");
    if (static_cast<Code>(code) != Code::ok) return Status(static_cast<Code>(code), text);
    Tree tree = GRADCOLL_VALUE(Tree::deserialize(tree_bytes));
    return DiscoveredTree{std::move(tree), std::move(text), std::move(notes)};
}

}  // namespace gradcoll
