// compress/stages.hpp - the table of codec stages: those of this folder, then those that a build
// adds from outside. Pure; thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "compress/stage.hpp"

namespace gradcoll {

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
