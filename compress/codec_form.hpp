// compress/codec_form.hpp - the codecs in all their forms: where kernels, rate or speed depend on
// parameters (CodecStage::form_with), planning reckons with each form for itself; and a value for
// each codec, in each of its forms. Thread safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

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

/// ByCodec is dense, whatever the numbers are. Allocates when it is made.
template <class T>
class ByCodec {
  public:
    ByCodec() : values_(all_codec_forms().size()) {}

    /// Returns the value for the form that serves the codec.
    T& operator[](CodecId codec) { return values_[form_index_of(codec)]; }
    const T& operator[](CodecId codec) const { return values_[form_index_of(codec)]; }
    /// Returns a value by its place in all_codec_forms().
    T& at_form(std::size_t form) { return values_[form]; }
    const T& at_form(std::size_t form) const { return values_[form]; }
    auto begin() { return values_.begin(); }
    auto end() { return values_.end(); }
    friend bool operator==(const ByCodec&, const ByCodec&) = default;

  private:
    std::vector<T> values_;
};

}  // namespace gradcoll
