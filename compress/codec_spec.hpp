// compress/codec_spec.hpp - how the elements of a hop are encoded, as a value: a chain of stages
// with their parameters, and its text.
//
//   text       stage { "+" stage }
//   stage      name { "/" parameter }
//   parameter  "abs=" number        no element comes back further off than this
//
// Today a chain is one stage: longer ones are read, and refused.
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
    /// The same stage with other parameters, which it takes.
    CodecSpec with(const CodecParameters& parameters) const;

    /// What parse() reads; the registered name, not an alias.
    std::string text() const;
    /// The number that travels on the wire.
    std::uint8_t number() const { return stage_.member->number; }
    const CodecParameters& parameters() const { return parameters_; }

    friend bool operator==(const CodecSpec& a, const CodecSpec& b) {
        return a.stage_.member == b.stage_.member && a.parameters_ == b.parameters_;
    }

  private:
    explicit CodecSpec(const CodecEntry& stage) : stage_(stage) {}

    CodecEntry stage_;  ///< the only one of the chain
    CodecParameters parameters_;
};

}  // namespace gradcoll
