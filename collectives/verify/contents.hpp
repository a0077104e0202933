// collectives/verify/contents.hpp - the contents of memory, without data: for every piece, whose
// contributions are in it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "collectives/plan/range.hpp"
#include "compress/codec_id.hpp"

namespace gradcoll::verification {

/// A Content is the elements `elems`, as values or encoded with `codec`; `term` says what they are
/// the sum of.
struct Content {
    Range elems;
    CodecId codec = CodecId::exact;
    std::uint32_t term = 0;
};
using Contents = std::vector<Content>;  ///< one after another in memory

/// Memory is one area of one rank, by bytes.
class Memory {
  public:
    explicit Memory(std::size_t elem_bytes) : elem_bytes_(static_cast<std::int64_t>(elem_bytes)) {}

    void write(std::int64_t begin_bytes, const Contents& contents);
    /// Returns nothing if a part was never written, or an encoding would have to be cut where it
    /// cannot be.
    std::optional<Contents> read(Range bytes) const;

    std::int64_t bytes_of(const Content& content) const;

  private:
    void cut(std::int64_t at_bytes);
    std::optional<Content> clipped(std::int64_t begin_bytes, const Content& content,
                                   Range bytes) const;
    std::optional<std::int64_t> elems_in(const Content& content, std::int64_t bytes) const;

    std::int64_t elem_bytes_;
    std::map<std::int64_t, Content> pieces_;  ///< by first byte; disjoint
};

/// Returns the contents with neighbours of one term joined: equal for equal contents.
Contents joined(const Contents& contents);

/// Returns whether the contents are the values of exactly these elements.
bool are_values_of(const Contents& contents, Range elems);

}  // namespace gradcoll::verification
