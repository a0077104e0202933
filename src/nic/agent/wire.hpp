// nic/agent/wire.hpp - what agents say to each other over a connection: first who they are, and
// that they know the secret of a group, without saying it; then frames. All numbers are little
// endian, as on every machine that this is built for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "nic/control.hpp"

namespace gradcoll {

using NicNonce = std::array<std::uint8_t, 32>;
using NicProof = std::array<std::uint8_t, 32>;

inline constexpr std::uint32_t link_magic = 0x6b6c'6367;

/// LinkHello comes from whoever connects. The numbers are those of hosts in the group.
struct LinkHello {
    std::uint32_t magic = link_magic;
    std::uint32_t version = nic_version;
    std::array<std::uint8_t, 16> group{};
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    NicNonce nonce{};
};
/// LinkChallenge is the answer. One of another version is that alone, without a proof.
struct LinkChallenge {
    std::uint32_t magic = link_magic;
    std::uint32_t version = nic_version;
    NicNonce nonce{};
    NicProof proof{};
};
/// LinkAnswer answers the challenge. The first frame that comes back says that it was good.
struct LinkAnswer {
    NicProof proof{};
};

enum class FrameKind : std::uint8_t {
    up = 1,     ///< the other side knows the secret; and now and then: it works
    data,       ///< a frame of `source` for `target`, and its bytes
    delivered,  ///< `source` has in its memory what `target` sent, up to `number`
    consumed,   ///< `source` has read what `target` sent, up to `number`
    gone,       ///< `source` has left
    // These are for sums (nic/agent/group_sums.hpp): `source` and `target` are hosts, `number` that
    // of a piece.
    part,    ///< what the ranks of `source` have there, for `target`, which adds
    total,   ///< what `source` has added
    no_sums  ///< the ranks of `source` get no more of them
};

struct LinkFrame {
    std::uint32_t magic = link_magic;
    FrameKind kind = FrameKind::data;
    NicCoding coding = NicCoding::none;  ///< not none: the bytes are a message of elements
    std::array<std::uint8_t, 2> unused{};
    std::uint32_t source = 0;
    std::uint32_t target = 0;
    std::uint64_t number = 0;  ///< number within a pair and direction, from 1
    std::uint32_t size_bytes = 0;
    std::uint32_t crc = 0;  ///< CRC32C of the frame with 0 here, and of its bytes
    NicNote note;
};
static_assert(sizeof(LinkFrame) == 64);
static_assert(sizeof(LinkHello) == 64 && sizeof(LinkChallenge) == 72 && sizeof(LinkAnswer) == 32);

constexpr bool is_of_sums(FrameKind kind) {
    return kind >= FrameKind::part;
}
/// Returns whether frames of that kind have bytes.
constexpr bool has_bytes(FrameKind kind) {
    return kind == FrameKind::data || kind == FrameKind::part || kind == FrameKind::total;
}

std::uint32_t crc_of(LinkFrame frame, std::span<const std::byte> bytes);

/// Checks what can be said of a frame before its bytes are there. Errors: corrupt.
Status check_link_frame(const LinkFrame& frame, std::uint32_t most_bytes);

/// LinkIntroduction is what both sides have said so far.
struct LinkIntroduction {
    LinkHello hello;
    NicNonce answer{};  ///< the nonce of who was connected to
};
enum class LinkSide : std::uint8_t { connected = 1, accepted };

/// Returns the HMAC-SHA256 of the secret over the side that proves itself and all that was said.
/// Errors: internal if libcrypto refuses.
Result<NicProof> proof_of(const NicGroupKey& key, LinkSide side, const LinkIntroduction& said);
/// Compares two proofs, and takes as long wherever they differ.
bool same_proof(const NicProof& left, const NicProof& right);
/// Returns a nonce that nobody can foresee. Errors: internal.
Result<NicNonce> new_nonce();

}  // namespace gradcoll
