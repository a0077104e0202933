#include "settings/codec_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.hpp"

namespace gradcoll {
namespace {

Status bad_phase(std::size_t number, std::string_view text, std::string_view why) {
    return {Code::invalid_argument,
            fmt::format("phase {} of the schedule, '{}': {}", number, printable(text), why)};
}

Result<CodecSchedule::Phase> parse_phase(std::string_view text, std::size_t number) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos)
        return bad_phase(number, text, "allowed is step:codec, such as 500:2:4");
    const auto step =
        parse_integer(trimmed(text.substr(0, colon)), 0, std::numeric_limits<std::int64_t>::max());
    if (!step) return bad_phase(number, text, "step: " + step.status().message());
    const auto codec = codec_from_name(trimmed(text.substr(colon + 1)));
    if (!codec) return bad_phase(number, text, "codec: " + codec.status().message());
    return CodecSchedule::Phase{*step, *codec};
}

}  // namespace

Result<CodecSchedule> CodecSchedule::parse(std::string_view text) {
    std::vector<Phase> phases;
    if (trimmed(text).empty()) return CodecSchedule();
    for (const std::string_view part : split_at_commas(text)) {
        const std::size_t number = phases.size() + 1;
        const auto phase = parse_phase(part, number);
        if (!phase) return phase.status();
        if (phases.empty() && phase->first_step != 0)
            return bad_phase(number, part, "the first phase must begin at step 0");
        if (!phases.empty() && phase->first_step <= phases.back().first_step)
            return bad_phase(number, part,
                             fmt::format("steps must increase, and the phase before begins at {}",
                                         phases.back().first_step));
        phases.push_back(*phase);
    }
    return CodecSchedule(std::move(phases));
}

bool CodecSchedule::has_its_form(std::string_view text) {
    const std::string_view phase = text.substr(0, text.find(','));
    const std::size_t colon = phase.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view step = trimmed(phase.substr(0, colon));
    const std::string_view codec = trimmed(phase.substr(colon + 1));
    return !step.empty() && std::all_of(step.begin(), step.end(), is_digit) && !codec.empty() &&
           (!is_digit(codec.front()) || codec.find(':') != std::string_view::npos);
}

CodecId CodecSchedule::codec_at(std::int64_t step) const {
    CodecId codec = phases_.front().codec;
    for (const Phase& phase : phases_)
        if (phase.first_step <= step) codec = phase.codec;
    return codec;
}

CodecSchedule CodecSchedule::replaced(const std::function<CodecId(CodecId)>& by) const {
    CodecSchedule schedule = *this;
    for (Phase& phase : schedule.phases_) phase.codec = by(phase.codec);
    return schedule;
}

}  // namespace gradcoll
