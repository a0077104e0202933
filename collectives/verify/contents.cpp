// collectives/verify/contents.cpp - the contents of memory, without data.
#include "collectives/verify/contents.hpp"

#include <algorithm>
#include <iterator>

namespace gradcoll::verification {

std::int64_t Memory::bytes_of(const Content& content) const {
    const auto count = static_cast<std::size_t>(content.elems.size());
    return static_cast<std::int64_t>(
        bound_bytes(content.codec, static_cast<std::size_t>(elem_bytes_), count));
}

/// Returns how many elements the first `bytes` of a content hold, if it can be cut there.
std::optional<std::int64_t> Memory::elems_in(const Content& content, std::int64_t bytes) const {
    if (bytes == bytes_of(content)) return content.elems.size();
    const auto block = static_cast<std::int64_t>(codec_block_elems(content.codec));
    const std::int64_t block_bytes = bytes_of({{0, block}, content.codec, 0});
    if (bytes % block_bytes != 0) return std::nullopt;
    return bytes / block_bytes * block;
}

std::optional<Content> Memory::clipped(std::int64_t begin_bytes, const Content& content,
                                       Range bytes) const {
    const std::int64_t end_bytes = begin_bytes + bytes_of(content);
    const auto skipped = elems_in(content, std::max(bytes.begin, begin_bytes) - begin_bytes);
    const auto kept = elems_in(content, std::min(bytes.end, end_bytes) - begin_bytes);
    if (!skipped || !kept) return std::nullopt;
    return Content{
        {content.elems.begin + *skipped, content.elems.begin + *kept}, content.codec, content.term};
}

std::optional<Contents> Memory::read(Range bytes) const {
    Contents contents;
    auto piece = pieces_.upper_bound(bytes.begin);
    if (piece == pieces_.begin()) return std::nullopt;
    --piece;
    for (std::int64_t at = bytes.begin; at < bytes.end; ++piece) {
        if (piece == pieces_.end() || piece->first > at) return std::nullopt;
        const std::int64_t end = piece->first + bytes_of(piece->second);
        if (end <= at) return std::nullopt;
        const auto part = clipped(piece->first, piece->second, bytes);
        if (!part) return std::nullopt;
        contents.push_back(*part);
        at = end;
    }
    return contents;
}

/// Makes `at_bytes` a boundary between pieces; an encoding that cannot be cut there is lost (it is
/// being overwritten).
void Memory::cut(std::int64_t at_bytes) {
    auto piece = pieces_.lower_bound(at_bytes);
    if (piece == pieces_.begin()) return;
    --piece;
    const Range whole{piece->first, piece->first + bytes_of(piece->second)};
    if (whole.end <= at_bytes) return;
    const auto head = clipped(whole.begin, piece->second, {whole.begin, at_bytes});
    const auto rest = clipped(whole.begin, piece->second, {at_bytes, whole.end});
    pieces_.erase(piece);
    if (!head || !rest) return;
    pieces_.emplace(whole.begin, *head);
    pieces_.emplace(at_bytes, *rest);
}

void Memory::write(std::int64_t begin_bytes, const Contents& contents) {
    std::int64_t end_bytes = begin_bytes;
    for (const Content& content : contents) end_bytes += bytes_of(content);
    cut(begin_bytes);
    cut(end_bytes);
    pieces_.erase(pieces_.lower_bound(begin_bytes), pieces_.lower_bound(end_bytes));
    for (const Content& content : contents) {
        pieces_.emplace(begin_bytes, content);
        begin_bytes += bytes_of(content);
    }
}

Contents joined(const Contents& contents) {
    Contents result;
    for (const Content& content : contents) {
        const bool continues = !result.empty() && result.back().term == content.term &&
                               result.back().codec == content.codec &&
                               result.back().elems.end == content.elems.begin;
        if (continues)
            result.back().elems.end = content.elems.end;
        else
            result.push_back(content);
    }
    return result;
}

bool are_values_of(const Contents& contents, Range elems) {
    for (const Content& content : contents) {
        if (content.codec != CodecId::exact || content.elems.begin != elems.begin) return false;
        elems.begin = content.elems.end;
    }
    return elems.begin == elems.end;
}

}  // namespace gradcoll::verification
