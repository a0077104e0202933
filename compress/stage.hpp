// compress/stage.hpp - what a codec stage says of itself, and the table of stages: those of this
// folder, then those that a build adds from outside. A stage is a folder: its extension.cmake adds
// it to the table `codec`, and one of its files defines
//   const CodecStage& NAME_codec_stage();
// which gives the same object in every call. Nothing else in the library names a stage. Pure;
// thread safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/cpu.hpp"
#include "compress/kernels.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// This is the largest block of a codec, at multiples of which lossy calls are cut.
inline constexpr std::size_t lossy_block_elems = 512;

/// CodecRates are GB/s of plain fp32 elements on one core, vectors larger than the caches, to plan
/// with until somebody has measured (scripts/tune). A stage that says nothing gets these figures:
/// slow, so that gc_compress_if=pays takes it only where links are slower still.
struct CodecRates {
    double encode = 1;
    double decode = 1;
    double decode_sum = 1;
    /// Usual data take this part of the bound, if the rate is variable.
    double part_of_bound = 1;
};

/// TakenParameters says which parameters a codec may be given in its text; not more than one at
/// once.
struct TakenParameters {
    bool abs = false, rel = false, seed = false;
    bool any() const { return abs || rel || seed; }
};

/// CodecMember is one registered codec: a stage with its parameters set.
struct CodecMember {
    /// The number travels on the wire and never changes its meaning. 0 to 127 are for the project,
    /// 128 to 255 for stages from outside.
    std::uint8_t number = 0;
    /// The name has no blanks nor any of , / = and ", which separate names in settings; "+" stands
    /// only in a chain, between names of codecs that come before it in the table. The aliases
    /// follow the same rules.
    std::string_view name;
    std::span<const std::string_view> aliases = {};
    std::array<int, 2> parameters = {};  ///< what they mean is the stage's business: N and M
    CodecRates rates = {};
    TakenParameters takes = {};
    /// A codec that is told no tolerance then loses nothing, and is not worth its while.
    bool needs_tolerance = false;
    /// The library takes it by itself, and no setting names it.
    bool is_internal = false;
};

struct CodecStage;
/// CodecEntry is a registered codec.
struct CodecEntry {
    const CodecStage* stage = nullptr;
    const CodecMember* member = nullptr;
};

/// A KernelsOf returns the kernels of a member for a type; none if it is not defined for the type,
/// or not by this set.
using KernelsOf = Kernels (*)(const CodecMember& member, ElementType type);

/// KernelsBySet has kernels by instruction set. What a set lacks, the next lower one does; the
/// first, `scalar`, must be there for every supported type of known size. All of them give the same
/// bytes.
using KernelsBySet = std::array<KernelsOf, instruction_set_count>;

/// Calls a function of a family of codecs, which takes as many parameters as the family has.
inline Kernels kernels_from(Kernels (*of)(ElementType), const CodecMember&, ElementType type) {
    return of(type);
}
inline Kernels kernels_from(Kernels (*of)(int, ElementType), const CodecMember& member,
                            ElementType type) {
    return of(member.parameters[0], type);
}
inline Kernels kernels_from(Kernels (*of)(int, int, ElementType), const CodecMember& member,
                            ElementType type) {
    return of(member.parameters[0], member.parameters[1], type);
}

/// kernels_by_set<GRADCOLL_OF_SETS(name)> holds such functions, one for each instruction set that
/// the build has.
template <auto... functions>
constexpr KernelsBySet kernels_by_set{[](const CodecMember& member, ElementType type) {
    return kernels_from(functions, member, type);
}...};

struct CodecStage {
    std::span<const CodecMember> members;
    /// Returns one line for people: "keeps the 2 largest magnitudes of every 4 adjacent values".
    std::string (*description)(const CodecMember& member) = nullptr;
    bool (*supports)(const CodecMember& member, ElementType type) = nullptr;
    /// Vectors are cut at multiples of this; it divides lossy_block_elems.
    std::size_t block_elems = 0;
    /// If this is set, every encoding is as long as the bound.
    bool has_fixed_rate = true;
    /// Returns the most bytes of an encoding; linear over whole blocks.
    std::size_t (*bound_bytes)(const CodecMember& member, std::size_t elem_bytes,
                               std::size_t count) = nullptr;
    KernelsBySet kernels = {};
    /// Returns what serves a member that is given these parameters, if that is not this stage
    /// itself: rate, bound, block and kernels may be others. A null stage stands for this one.
    CodecEntry (*form_with)(const CodecMember& member, const CodecParameters& parameters) = nullptr;
};

/// Returns all of them, in the order of the table. The first is `exact`, number 0.
std::span<const CodecEntry> codec_entries();

/// Returns a place in codec_entries(), or npos if nobody has the number. One load.
std::size_t place_of_codec(std::uint8_t number);
inline constexpr std::size_t no_codec = static_cast<std::size_t>(-1);

/// Returns what serves a codec that is given parameters.
CodecEntry form_of(const CodecEntry& codec, const CodecParameters& parameters);

/// Returns a list for messages: "exact (off, none, 4:4), 1:4, 2:4".
std::string allowed_codecs();

/// Returns what is wrong with a table of stages: two codecs with one number or name, a name that
/// settings cannot spell, a stage that lacks something; empty if it is good. A library with a bad
/// table ends the program when it first looks for a codec, with this text.
std::string fault_of(std::span<const CodecStage* const> stages);

}  // namespace gradcoll
