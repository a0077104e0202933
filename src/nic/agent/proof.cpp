#include "nic/agent/proof.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstring>

namespace gradcoll {

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
