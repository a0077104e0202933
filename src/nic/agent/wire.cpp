#include "nic/agent/wire.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstring>

#include "base/crc32c.hpp"

namespace gradcoll {

std::uint32_t crc_of(LinkFrame frame, std::span<const std::byte> bytes) {
    frame.crc = 0;
    const std::uint32_t of_frame = crc32c(~0U, std::as_bytes(std::span(&frame, 1)));
    return ~(bytes.empty() ? of_frame : crc32c(of_frame, bytes));
}

Status check_link_frame(const LinkFrame& frame, std::uint32_t most_bytes) {
    const auto kind = static_cast<int>(frame.kind);
    if (frame.magic != link_magic || kind < static_cast<int>(FrameKind::up) ||
        kind > static_cast<int>(FrameKind::no_sums))
        return {Code::corrupt, fmt::format("frame with magic {:#x} of kind {}", frame.magic, kind)};
    const auto coding = static_cast<unsigned>(frame.coding);
    if (coding >= nic_coding_count || (!has_bytes(frame.kind) && coding != 0))
        return {Code::corrupt, fmt::format("frame of kind {} with coding {}", kind, coding)};
    const std::uint32_t most = has_bytes(frame.kind) ? most_bytes : 0;
    if (frame.size_bytes > most)
        return {Code::corrupt,
                fmt::format("frame of {} bytes; at most {} are allowed", frame.size_bytes, most)};
    return {};
}

Result<NicProof> proof_of(const NicGroupKey& key, LinkSide side, const LinkIntroduction& said) {
    std::array<unsigned char, 1 + sizeof(LinkHello) + sizeof(NicNonce)> text{};
    text[0] = static_cast<unsigned char>(side);
    std::memcpy(text.data() + 1, &said.hello, sizeof said.hello);
    std::memcpy(text.data() + 1 + sizeof said.hello, said.answer.data(), said.answer.size());
    NicProof proof{};
    unsigned size = 0;
    if (HMAC(EVP_sha256(), key.secret.data(), static_cast<int>(key.secret.size()), text.data(),
             text.size(), proof.data(), &size) == nullptr ||
        size != proof.size())
        return Status(Code::internal, "HMAC-SHA256 was refused by libcrypto");
    return proof;
}

bool same_proof(const NicProof& left, const NicProof& right) {
    return CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

Result<NicNonce> new_nonce() {
    NicNonce nonce{};
    if (RAND_bytes(nonce.data(), static_cast<int>(nonce.size())) != 1)
        return Status(Code::internal, "libcrypto has no random numbers");
    return nonce;
}

}  // namespace gradcoll
