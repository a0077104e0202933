// compress/codec_form.hpp - the codecs in all their forms: where kernels, rate or speed depend on
// parameters (CodecStage::form_with), planning reckons with each form for itself. Thread safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "compress/codec_id.hpp"

namespace gradcoll {

struct NamedForm {
    CodecId codec = CodecId::exact;  ///< codec without parameters
    CodecParameters parameters;      ///< parameters that ask for the form; none: the usual one
    std::string name;                ///< "int8", "int8/abs"
};

/// Returns the forms in the order of the table, the usual form of a codec before its others.
std::span<const NamedForm> all_codec_forms();
/// Returns the place in all_codec_forms() of what serves a registered codec.
std::size_t form_index_of(CodecId codec);
/// Returns the form as a codec. Errors: those of codec_with().
Result<CodecId> codec_of(const NamedForm& form);
const CodecRates& rates_of(const NamedForm& form);

}  // namespace gradcoll
