// collectives/build/flexreduce/allgather.hpp - the way down: at each vertex the owners of an
// interval pass on what they have, as values or as the owner's encoding of them.
#pragma once

#include <map>

#include "collectives/build/flexreduce/level.hpp"
#include "collectives/build/transfer.hpp"

namespace gradcoll {

/// Allgather appends the allgather of one level after another, root to leaves. It works on the
/// output.
///
/// Everybody must end with the same bits: the owner encodes its final values once and replaces them
/// by what it decodes; others forward those very bytes. Nothing is encoded again on the way down.
class Allgather {
  public:
    explicit Allgather(Transfer& transfer) : transfer_(transfer) {}

    /// Encodes what this rank owns, before the first level, with a header if the root level needs
    /// it. With feedback an exact root level encodes too, to plain bytes (see ReduceScatter).
    void encode_owned(const Level& root, const std::vector<Range>& owned);
    void append(const Level& level);

  private:
    struct RangesLess {
        bool operator()(const std::vector<Range>& a, const std::vector<Range>& b) const;
    };
    using Parcels = std::map<std::vector<Range>, Slot, RangesLess>;
    struct Encoding {
        std::int64_t end = 0;
        std::uint64_t offset_bytes = 0;
    };

    void receive(const Level& level, const Message& message);
    void send(const Level& level, const Message& message);
    Slot gathered(const std::vector<Range>& ranges);
    Slot packed(const std::vector<Range>& ranges);
    void gather(Range range, std::uint64_t to_bytes);
    void remember(const std::vector<Range>& ranges, const Parcel& parcel);
    void decode(const std::vector<Range>& ranges, const Parcel& parcel, CodecId codec);
    std::uint64_t bytes_of(std::int64_t count_elems) const;

    Transfer& transfer_;
    Parcels framed_;  ///< messages in scratch that hold the encodings of exactly these ranges, and
                      ///< can be sent again
    Parcels raw_;     ///< the same with values
    std::map<std::int64_t, Encoding>
        encodings_;  ///< by first element: where encoded pieces are in scratch
};

}  // namespace gradcoll
