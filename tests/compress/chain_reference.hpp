// tests/compress/chain_reference.hpp - the chains as compress/chain/README.md says them: a part of
// reference.hpp, made of the references of the stages.
#pragma once

#include <optional>

#include "compress/reference.hpp"

namespace gradcoll::test {

/// A Chain keeps N of every four, in codes of this many bits.
struct Chain {
    CodecId chooser;
    std::size_t keep;
    int bits;
};
std::optional<Chain> chain_of(CodecId codec);

Bytes encode_chain(const Chain& chain, ElementType type, const Bytes& plain);
Bytes decode_chain(const Chain& chain, ElementType type, const Bytes& encoded, std::size_t count);

}  // namespace gradcoll::test
