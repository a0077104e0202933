// compress/codec_spec.hpp - how the elements of a hop are encoded, as a value: a chain of stages
// with their parameters, and its text.
//
//   text       chain { "/" parameter } [ "+" packing ]
//   chain      stage { "+" stage }
//   parameter  "abs=" number        no element comes back further off than this
//              "abs=call"           than the part that each call gives it (gc_tolerance)
//              "abs=8call"          than 8 of these parts
//              "rel=" number        than this times its magnitude
//              "seed=" integer      stochastic rounding with this seed
//   packing    "zstd" | "lz4"       messages are packed once more, without loss
//
// The chains are those of the table, each a codec with a number and kernels of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "compress/stage.hpp"

namespace gradcoll {

/// A CodecSpec is cheap to copy and to compare. Every value is a registered codec.
class CodecSpec {
  public:
    /// Errors: invalid_argument, with the place, what was read and what is allowed.
    static Result<CodecSpec> parse(std::string_view text);
    /// Returns the codec that has the number; there must be one.
    static CodecSpec of(std::uint8_t number);
    /// Returns the same chain with other parameters, which it takes.
    CodecSpec with(const CodecParameters& parameters) const;

    /// Returns a text that parse() reads, with the registered name, not an alias.
    std::string text() const;
    /// Returns the number that travels on the wire.
    std::uint8_t number() const { return chain_.member->number; }
    const CodecParameters& parameters() const { return parameters_; }

    friend bool operator==(const CodecSpec& a, const CodecSpec& b) {
        return a.chain_.member == b.chain_.member && a.parameters_ == b.parameters_;
    }

  private:
    explicit CodecSpec(const CodecEntry& chain) : chain_(chain) {}

    CodecEntry chain_;
    CodecParameters parameters_;
};

}  // namespace gradcoll
