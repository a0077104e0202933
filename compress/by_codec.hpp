// compress/by_codec.hpp - a value for each codec of the table.
#pragma once

#include <vector>

#include "compress/codec_id.hpp"

namespace gradcoll {

/// Dense, whatever the numbers are; finding one costs a load more than an array. Allocates when it
/// is made.
template <class T>
class ByCodec {
  public:
    ByCodec() : values_(all_codecs().size()) {}

    T& operator[](CodecId codec) { return values_[index_of(codec)]; }
    const T& operator[](CodecId codec) const { return values_[index_of(codec)]; }
    auto begin() { return values_.begin(); }
    auto end() { return values_.end(); }
    friend bool operator==(const ByCodec&, const ByCodec&) = default;

  private:
    std::vector<T> values_;
};

}  // namespace gradcoll
