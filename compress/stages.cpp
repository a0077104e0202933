// compress/stages.cpp - the table, and the check of it.
#include "compress/stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <vector>

namespace gradcoll {

#define GRADCOLL_ROW(name) const CodecStage& name##_codec_stage();
#include "codec_table.inc"
#undef GRADCOLL_ROW

namespace {

constexpr std::uint8_t no_place = std::numeric_limits<std::uint8_t>::max();

bool is_spelled_well(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return c > ' ' && c < 127 && std::string_view(",/=\"").find(c) == std::string_view::npos;
    });
}

/// TableCheck finds what two codecs share.
class TableCheck {
  public:
    std::string fault_of(const CodecStage& stage, const CodecMember& member) {
        if (stage.description == nullptr || stage.supports == nullptr ||
            stage.bound_bytes == nullptr || stage.kernels[0] == nullptr)
            return fmt::format("the stage of codec {} lacks a function", member.name);
        if (stage.block_elems == 0 || lossy_block_elems % stage.block_elems != 0)
            return fmt::format("codec {} has blocks of {} elements; allowed: what divides {}",
                               member.name, stage.block_elems, lossy_block_elems);
        if (const auto [at, is_new] = numbers_.emplace(member.number, member.name); !is_new)
            return fmt::format("codecs {} and {} both have number {}", at->second, member.name,
                               member.number);
        std::string fault = fault_of_name(member.name, member);
        for (const std::string_view alias : member.aliases)
            if (fault.empty()) fault = fault_of_name(alias, member);
        return fault;
    }

  private:
    std::string fault_of_name(std::string_view name, const CodecMember& member) {
        if (!is_spelled_well(name))
            return fmt::format(
                "\"{}\", a name of codec {}: allowed are printable characters but "
                "blanks and , / = \"",
                name, member.number);
        if (!is_chain_of_known(name))
            return fmt::format(
                "\"{}\", a name of codec {}: allowed beside + are names of codecs before it", name,
                member.number);
        const auto [at, is_new] = names_.emplace(name, member.number);
        return is_new ? std::string()
                      : fmt::format("codecs {} and {} are both named {}", at->second, member.number,
                                    name);
    }

    /// Returns whether the name is one stage, or a chain of stages that are there already.
    bool is_chain_of_known(std::string_view name) const {
        if (name.find('+') == std::string_view::npos) return true;
        for (std::size_t at = 0, end = 0; at <= name.size(); at = end + 1) {
            end = std::min(name.find('+', at), name.size());
            if (names_.count(name.substr(at, end - at)) == 0) return false;
        }
        return true;
    }

    std::map<unsigned, std::string_view> numbers_;
    std::map<std::string_view, unsigned> names_;
};

struct Table {
    std::vector<CodecEntry> entries;
    std::array<std::uint8_t, 256> places;

    explicit Table(std::span<const CodecStage* const> stages) {
        if (const std::string fault = fault_of(stages); !fault.empty()) {
            fmt::print(stderr, "gradcoll: the table of codecs is bad: {}\n", fault);
            std::abort();  // the build must be mended: no call can be right with it
        }
        places.fill(no_place);
        for (const CodecStage* stage : stages)
            for (const CodecMember& member : stage->members) {
                places[member.number] = static_cast<std::uint8_t>(entries.size());
                entries.push_back({stage, &member});
            }
    }
};

const Table& table() {
    static const Table made = [] {
        const CodecStage* const stages[] = {
#define GRADCOLL_ROW(name) &name##_codec_stage(),
#include "codec_table.inc"
#undef GRADCOLL_ROW
        };
        return Table(stages);
    }();
    return made;
}

}  // namespace

std::span<const CodecEntry> codec_entries() {
    return table().entries;
}

std::size_t place_of_codec(std::uint8_t number) {
    const std::uint8_t place = table().places[number];
    return place == no_place ? no_codec : place;
}

CodecEntry form_of(const CodecEntry& codec, const CodecParameters& parameters) {
    if (codec.stage->form_with == nullptr) return codec;
    const CodecEntry form = codec.stage->form_with(*codec.member, parameters);
    return form.stage == nullptr ? codec : form;
}

std::string allowed_codecs() {
    std::string text;
    for (const auto& [stage, member] : codec_entries()) {
        if (member->is_internal) continue;
        fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : ", ", member->name);
        if (!member->aliases.empty())
            fmt::format_to(std::back_inserter(text), " ({})", fmt::join(member->aliases, ", "));
    }
    return text;
}

std::string fault_of(std::span<const CodecStage* const> stages) {
    TableCheck check;
    std::size_t codecs = 0;
    for (const CodecStage* stage : stages)
        for (const CodecMember& member : stage->members) {
            if (codecs == 0 && member.number != 0)
                return fmt::format("the first codec is {}; allowed: number 0", member.name);
            if (++codecs >= no_place) return fmt::format("more than {} codecs", no_place - 1);
            if (std::string fault = check.fault_of(*stage, member); !fault.empty()) return fault;
        }
    return codecs == 0 ? "no codec" : "";
}

}  // namespace gradcoll
