// settings/codec_schedule.hpp - codec by training step: "0:4:4,500:2:4,5000:1:4".
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "compress/codec_id.hpp"

namespace gradcoll {

/// CodecSchedule holds phases of training, each with a codec. Immutable; thread safe.
class CodecSchedule {
  public:
    /// Makes the schedule of no phases, whose codec_at() must not be called.
    CodecSchedule() = default;

    /// Reads phases step:codec, comma separated, with steps that increase from 0. Spaces are
    /// ignored; an empty text has no phases.
    /// Errors: invalid_argument naming the phase (counted from 1), what it holds and what is
    /// allowed.
    static Result<CodecSchedule> parse(std::string_view text);

    /// Returns whether the text is meant as a schedule: it begins with STEP:CODEC. "2:4" is a codec
    /// alone, "0:2:4" and "0:bf16" are not.
    static bool has_its_form(std::string_view text);

    bool empty() const { return phases_.empty(); }
    /// Returns the codec of a step; steps before 0 count as 0.
    CodecId codec_at(std::int64_t step) const;

    /// Returns the same phases with the codecs that `by` returns for theirs.
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
