// nic/agent/proof.hpp - how two agents show each other that they know the secret of a group,
// without saying it.
#pragma once

#include "nic/agent/wire.hpp"

namespace gradcoll {

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
