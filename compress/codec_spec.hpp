// compress/codec_spec.hpp - how the elements of a hop are encoded, as a value: a chain of stages
// with their parameters, and its text.
//
//   text       stage { "+" stage }
//   stage      name { "/" parameter }
//
// Today a chain is one stage whose parameters are in its name ("2:4"): longer chains and parameters
// are read, and refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "compress/stages.hpp"

namespace gradcoll {

/// Cheap to copy and to compare. Every value is a registered codec.
class CodecSpec {
  public:
    /// Errors: invalid_argument, with the place, what was read and what is allowed.
    static Result<CodecSpec> parse(std::string_view text);
    /// Precondition: a codec has the number.
    static CodecSpec of(std::uint8_t number);

    /// What parse() reads; the registered name, not an alias.
    std::string text() const { return std::string(stage_.member->name); }
    /// The number that travels on the wire.
    std::uint8_t number() const { return stage_.member->number; }

    friend bool operator==(const CodecSpec& a, const CodecSpec& b) {
        return a.stage_.member == b.stage_.member;
    }

  private:
    explicit CodecSpec(const CodecEntry& stage) : stage_(stage) {}

    CodecEntry stage_;  ///< the only one of the chain
};

}  // namespace gradcoll
