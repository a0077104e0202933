// compress/by_codec.hpp - a value for each codec of the table, in each of its forms.
#pragma once

#include <vector>

#include "compress/codec_form.hpp"

namespace gradcoll {

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
