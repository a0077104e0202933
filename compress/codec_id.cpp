// compress/codec_id.cpp - what the table says of a codec.
#include "compress/codec_id.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compress/codec_spec.hpp"
#include "compress/stage.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t most_kept = 255;
constexpr int place_bits = 8;  // bits of CodecId that hold the number; above them is the place

/// KeptCodecs has the codecs with parameters that this process has met. Entries stay where they
/// are.
class KeptCodecs {
  public:
    struct Entry {
        CodecSpec spec;
        std::string text;
        CodecId without_packing;
    };

    /// Errors: out_of_memory if there is no room.
    Result<CodecId> keep(const CodecSpec& spec, CodecId without_packing) {
        const std::scoped_lock lock(mutex_);
        const std::size_t count = count_;
        std::size_t place = 0;
        while (place < count && entries_[place]->spec != spec) ++place;
        if (place == most_kept)
            return Status(Code::out_of_memory,
                          fmt::format("codec {}: this process has used {} codecs with different "
                                      "parameters; allowed: no more",
                                      spec.text(), most_kept));
        if (place == count) {
            entries_[place] = Entry{spec, spec.text(), without_packing};
            count_.store(count + 1, std::memory_order_release);
        }
        return static_cast<CodecId>((place + 1) << place_bits | spec.number());
    }
    /// Returns null if nothing is kept there.
    const Entry* find(CodecId codec) const {
        const std::size_t place = static_cast<std::size_t>(codec) >> place_bits;
        if (place == 0 || place > count_.load(std::memory_order_acquire)) return nullptr;
        return &*entries_[place - 1];
    }

  private:
    std::mutex mutex_;
    std::array<std::optional<Entry>, most_kept> entries_;
    std::atomic<std::size_t> count_{0};
};

KeptCodecs& kept_codecs() {
    static KeptCodecs kept;
    return kept;
}

bool has_parameters(CodecId codec) {
    return codec != plain(codec);
}

const CodecEntry& entry_of(CodecId codec) {
    return codec_entries()[place_of_codec(number_of(codec))];
}

/// Returns what serves the codec, as its parameters ask.
CodecEntry serving(CodecId codec) {
    const CodecEntry& entry = entry_of(codec);
    return has_parameters(codec) ? form_of(entry, parameters_of(codec)) : entry;
}

}  // namespace

std::span<const CodecId> all_codecs() {
    static const std::vector<CodecId> all = [] {
        std::vector<CodecId> codecs;
        for (const CodecEntry& entry : codec_entries())
            if (!entry.member->is_internal)
                codecs.push_back(static_cast<CodecId>(entry.member->number));
        return codecs;
    }();
    return all;
}

bool is_registered(CodecId codec) {
    if (place_of_codec(number_of(codec)) == no_codec) return false;
    if (!has_parameters(codec)) return true;
    const KeptCodecs::Entry* const kept = kept_codecs().find(codec);
    return kept != nullptr && kept->spec.number() == number_of(codec);
}

std::size_t index_of(CodecId codec) {
    return place_of_codec(number_of(codec));
}

namespace {

/// Returns the id. What is packed is kept without that, too: without_packing() must not fail.
Result<CodecId> id_of(const CodecSpec& spec) {
    CodecParameters parameters = spec.parameters();
    if (parameters == CodecParameters{}) return CodecId{spec.number()};
    parameters.packing = Packing::none;
    CodecId unpacked = {};
    if (spec.parameters() != parameters) GRADCOLL_TRY(take(unpacked, id_of(spec.with(parameters))));
    return kept_codecs().keep(spec, unpacked);
}

}  // namespace

Result<CodecId> codec_with(CodecId codec, const CodecParameters& parameters) {
    return id_of(CodecSpec::of(number_of(codec)).with(parameters));
}

CodecParameters parameters_of(CodecId codec) {
    return has_parameters(codec) ? kept_codecs().find(codec)->spec.parameters() : CodecParameters{};
}

Packing packing_of(CodecId codec) {
    return parameters_of(codec).packing;
}

CodecId without_packing(CodecId codec) {
    return packing_of(codec) == Packing::none ? codec : kept_codecs().find(codec)->without_packing;
}

Result<CodecId> codec_from_name(std::string_view name) {
    return id_of(GRADCOLL_VALUE(CodecSpec::parse(name)));
}

std::string_view name_of(CodecId codec) {
    return has_parameters(codec) ? kept_codecs().find(codec)->text : entry_of(codec).member->name;
}

std::string description_of(CodecId codec) {
    const CodecEntry entry = serving(codec);
    return entry.stage->description(*entry.member);
}

bool codec_supports(CodecId codec, ElementType type) {
    const CodecEntry& entry = entry_of(codec);
    return entry.stage->supports(*entry.member, type);
}

std::string types_of(CodecId codec) {
    std::string text;
    bool is_for_all = true;
    for (int number = 0; number <= static_cast<int>(ElementType::opaque); ++number) {
        const auto type = static_cast<ElementType>(number);
        if (codec_supports(codec, type))
            text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(type));
        else
            is_for_all = false;
    }
    return is_for_all ? "all types" : text;
}

std::size_t codec_block_elems(CodecId codec) {
    return serving(codec).stage->block_elems;
}

std::size_t codec_block_elems(CodecId codec, const CodecParameters& parameters) {
    return form_of(entry_of(codec), parameters).stage->block_elems;
}

const TakenParameters& parameters_for(CodecId codec) {
    return entry_of(codec).member->takes;
}

bool waits_for_tolerance(CodecId codec) {
    codec = without_packing(codec);
    if (has_parameters(codec)) return parameters_of(codec).call_parts > 0;
    return entry_of(codec).member->needs_tolerance;
}

Status check_told(CodecId codec) {
    if (!waits_for_tolerance(codec)) return {};
    return {Code::invalid_argument,
            fmt::format("codec \"{}\" needs a tolerance; allowed: {}/abs=NUMBER", name_of(codec),
                        name_of(plain(codec)))};
}

Result<CodecId> told_by_call(CodecId codec) {
    const bool can_be = !has_parameters(without_packing(codec)) && parameters_for(codec).abs;
    if (!can_be || waits_for_tolerance(codec)) return codec;
    return with_loss_parts(codec, 1);
}

int loss_parts_of(CodecId codec) {
    if (codec == CodecId::exact) return 0;
    return std::max<int>(parameters_of(codec).call_parts, 1);
}

Result<CodecId> with_loss_parts(CodecId codec, int parts) {
    CodecParameters parameters = parameters_of(codec);
    parameters.call_parts = static_cast<std::uint16_t>(parts);
    return codec_with(codec, parameters);
}

bool shortens_with_tolerance(CodecId codec) {
    return waits_for_tolerance(codec) && entry_of(codec).member->needs_tolerance;
}

bool has_fixed_rate(CodecId codec) {
    return serving(codec).stage->has_fixed_rate;
}

bool has_fixed_rate(CodecId codec, const CodecParameters& parameters) {
    if (parameters == CodecParameters{}) return has_fixed_rate(codec);
    return form_of(entry_of(codec), parameters).stage->has_fixed_rate;
}

std::size_t bound_bytes(CodecId codec, std::size_t elem_bytes, std::size_t count) {
    const CodecEntry entry = serving(codec);
    return entry.stage->bound_bytes(*entry.member, elem_bytes, count);
}

std::size_t bound_bytes(CodecId codec, const CodecParameters& parameters, std::size_t elem_bytes,
                        std::size_t count) {
    const CodecEntry entry = form_of(entry_of(codec), parameters);
    return entry.stage->bound_bytes(*entry.member, elem_bytes, count);
}

const CodecRates& rates_of(CodecId codec) {
    return serving(codec).member->rates;
}

}  // namespace gradcoll
