// moved_bytes.cpp - the table of works.
#include "moved_bytes.hpp"

namespace gradcoll::bench {

std::string_view name_of(CodecWork work) {
    constexpr std::string_view names[] = {"encode", "encode+residual", "decode", "decode+sum"};
    return names[static_cast<std::size_t>(work)];
}

std::size_t residual_bytes(ElementType type) {
    return type == ElementType::f64 ? sizeof(double) : sizeof(float);
}

MovedBytes moved_bytes(const Kind& kind, CodecWork work, std::size_t count) {
    const std::size_t values = count * element_bytes(kind.type);
    const std::size_t encoded = bound_bytes(kind.codec, element_bytes(kind.type), count);
    const std::size_t residuals = count * residual_bytes(kind.type);
    switch (work) {
        case CodecWork::encode:
            return {values, encoded};
        case CodecWork::encode_with_residual:
            return {values + residuals, encoded + residuals};
        case CodecWork::decode:
            return {encoded, values};
        case CodecWork::decode_sum:
            return {encoded + values, values};
    }
    return {};
}

}  // namespace gradcoll::bench
