// collectives/predict/tuning.hpp - the figures that choices and predictions rest on: how fast
// codecs, links and cores are, and the sizes that follow. Users who measured other figures supply
// them (GC_TUNING_FILE, docs/tuning.md). All ranks must decide with the same ones. Pure.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compress/codec_form.hpp"
#include "compress/codec_id.hpp"
#include "compress/packing.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// A Speed is GB/s that may depend on how much memory is at work: what fits a cache is faster.
/// Between two points the speed changes linearly with the logarithm of the bytes; beyond the ends
/// it stays constant.
class Speed {
  public:
    struct Point {
        double bytes = 0;  ///< bytes at work on one host at a time, all ranks together
        double gbytes_per_s = 0;
        friend bool operator==(const Point&, const Point&) = default;
    };

    Speed(double gbytes_per_s = 0) : points_{{0, gbytes_per_s}} {}  // NOLINT: implicit by design
    /// Takes at least one point, bytes increasing.
    explicit Speed(std::vector<Point> points) : points_(std::move(points)) {}

    double at(double bytes) const;
    /// Returns the speed for more memory than any cache holds.
    double in_memory() const { return points_.back().gbytes_per_s; }
    const std::vector<Point>& points() const { return points_; }
    friend bool operator==(const Speed&, const Speed&) = default;

  private:
    std::vector<Point> points_;
};

/// CodecSpeed is in plain elements, on one core while the host's other cores do the same.
struct CodecSpeed {
    Speed encode;
    Speed decode;
    Speed decode_sum;  ///< decoding and adding
    friend bool operator==(const CodecSpeed&, const CodecSpeed&) = default;
};

/// PackingSpeed is in encoded bytes, on one core.
struct PackingSpeed {
    double pack = 0, unpack = 0;  ///< GB/s
    friend bool operator==(const PackingSpeed&, const PackingSpeed&) = default;
};

/// LinkSpeed is that of one branch's uplink, in each direction.
struct LinkSpeed {
    Speed gbytes_per_s;
    double latency_us = 0;  ///< for one message
    friend bool operator==(const LinkSpeed&, const LinkSpeed&) = default;
};

/// AutoChunk says how calls are cut: up to whole_bytes they go in one piece, others in pieces of
/// chunk_bytes (of the vector).
struct AutoChunk {
    std::int64_t whole_bytes = 0;
    std::int64_t chunk_bytes = 0;
    friend bool operator==(const AutoChunk&, const AutoChunk&) = default;
};

/// SharedMemorySizes are sizes of allreduces through memory that the ranks of a host share; 0: the
/// built-in choice.
struct SharedMemorySizes {
    std::int64_t flat_max_bytes = 0;    ///< up to so many bytes every rank reads all vectors
    std::int64_t piece_bytes = 0;       ///< longer vectors go through in pieces of so many bytes
    std::int64_t stream_min_bytes = 0;  ///< from so many bytes on, stores bypass the caches
    friend bool operator==(const SharedMemorySizes&, const SharedMemorySizes&) = default;
};

inline constexpr std::size_t vertex_kind_count = static_cast<std::size_t>(VertexKind::group) + 1;

/// So many chunks of a call are under way at a time unless the user says otherwise
/// (gc_chunks_in_flight).
inline constexpr int usual_chunks_in_flight = 4;

struct Tuning {
    Tuning();  ///< the shipped figures

    /// For `exact`, encode and decode are a plain copy and decode_sum is the plain sum. The shipped
    /// figures are what the codecs say of themselves; a codec that says nothing has 1 GB/s.
    ByCodec<CodecSpeed> codecs;
    std::array<PackingSpeed, packing_count> packings;  ///< index: Packing
    /// The index is the kind of the vertex whose branches the links connect. What the tree says of
    /// a link takes precedence.
    std::array<LinkSpeed, vertex_kind_count> links;
    double message_us = 0.2;  ///< core time to start a message and to see that it ended
    /// A rank that waits while ranks outnumber cores gets a core again after this time.
    double turn_us = 0;
    /// A host has so many cores, which its ranks share. 0: one for each rank, and moving bytes
    /// inside the host costs them nothing.
    int cores = 0;
    /// The time that the bytes take grows by this part for each further sender that hits a branch
    /// at the same time on links between hosts ...
    double incast_loss_per_sender = 0.03;
    double most_incast_loss =
        1;  ///< ... and together at most, in forecasts: 1 means twice the time
    AutoChunk one_level_chunk{16 << 20, 8 << 20};
    AutoChunk many_level_chunk{1 << 20, 512 << 10};
    SharedMemorySizes shm;
    /// One core has this speed in a pass over a vector on its way through memory that the ranks of
    /// a host share; the latency is the time until a rank sees what another has announced.
    LinkSpeed host_pass{Speed({{1 << 20, 30.0}, {16 << 20, 30.0}, {64 << 20, 12.0}}), 0.4};

    /// These are set for figures that a tuning file has given, to explain where a figure is from.
    std::vector<bool> codecs_said;  ///< by place in all_codec_forms()
    std::bitset<vertex_kind_count> links_said;
    bool host_pass_said = false;

    const CodecSpeed& of(CodecId codec) const { return codecs[codec]; }
    const PackingSpeed& of(Packing packing) const {
        return packings[static_cast<std::size_t>(packing)];
    }
    const LinkSpeed& link_below(VertexKind kind) const {
        return links[static_cast<std::size_t>(kind)];
    }
    friend bool operator==(const Tuning&, const Tuning&) = default;
};

/// Returns the figures without a tuning file. Thread safe.
const Tuning& shipped_tuning();

/// Returns how many bytes usual data of so many elements encode to: with a variable rate less than
/// the bound.
double usual_plain_bytes(CodecId codec, std::size_t elem_bytes, std::int64_t count_elems);
/// Returns that number as it travels: packed, if the codec packs.
double usual_bytes(CodecId codec, std::size_t elem_bytes, std::int64_t count_elems);

}  // namespace gradcoll
