// settings/codec_schedule.hpp - codec by training step: "0:4:4,500:2:4,5000:1:4".
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "compress/codec_id.hpp"

namespace gradcoll {

/// Phases of training, each with a codec. Immutable; thread safe.
class CodecSchedule {
  public:
    /// The schedule of no phases: codec_at() must not be called.
    CodecSchedule() = default;

    /// step:codec, comma separated, steps increasing from 0; spaces are ignored; empty: no phases.
    /// Errors: invalid_argument naming the phase (counted from 1), what it holds and what is
    /// allowed.
    static Result<CodecSchedule> parse(std::string_view text);

    bool empty() const { return phases_.empty(); }
    /// Steps before 0 count as 0.
    CodecId codec_at(std::int64_t step) const;

    /// The same phases with other codecs.
    CodecSchedule replaced(const std::function<CodecId(CodecId)>& by) const;

    struct Phase {
        std::int64_t first_step = 0;
        CodecId codec = CodecId::exact;
    };
    const std::vector<Phase>& phases() const { return phases_; }

  private:
    explicit CodecSchedule(std::vector<Phase> phases) : phases_(std::move(phases)) {}

    std::vector<Phase> phases_;
};

}  // namespace gradcoll
