// mover/profile/operator_flops.cpp - see operator_flops.hpp.
#include "mover/profile/operator_flops.hpp"

#include <string_view>

namespace gradcoll::mover {
namespace {

using Shape = std::vector<std::int64_t>;

double product_of(const Shape& shape, std::size_t from = 0) {
    double product = 1;
    for (std::size_t d = from; d < shape.size(); ++d) product *= static_cast<double>(shape[d]);
    return product;
}

/// The shapes are [..., rows, inner] and [..., inner, columns].
double flops_of_product(const Shape& left, const Shape& right) {
    if (left.size() < 2 || right.size() < 2) return 0;
    return 2 * product_of(left) * static_cast<double>(right.back());
}

/// Queries, keys and values are [batch, heads, sequence, size].
double flops_of_attention(const Shape& query, const Shape& key, const Shape& value) {
    if (query.size() != 4 || key.size() != 4 || value.size() != 4) return 0;
    const double pairs = static_cast<double>(query[0]) * static_cast<double>(query[1]) *
                         static_cast<double>(query[2]) * static_cast<double>(key[2]);
    return 2 * pairs * static_cast<double>(query[3] + value[3]);
}

/// Attention whose name begins so has no matrix product inside, unless it ends with "_math".
constexpr std::string_view attention = "aten::_scaled_dot_product_";

constexpr std::string_view convolution = "aten::convolution";

}  // namespace

double flops_of(const ExecutedNode& node) {
    const auto shape = [&](std::size_t input) {
        return input < node.inputs.size() ? node.inputs[input].shape : Shape();
    };
    if (node.name == "aten::mm" || node.name == "aten::bmm")
        return flops_of_product(shape(0), shape(1));
    if (node.name == "aten::addmm" || node.name == "aten::baddbmm")
        return flops_of_product(shape(1), shape(2));
    if (node.name.starts_with(attention) && !node.name.ends_with("_math"))
        return flops_of_attention(shape(0), shape(1), shape(2));
    if (node.name == convolution && !node.outputs.empty())
        return 2 * product_of(node.outputs.front().shape) * product_of(shape(1), 1);
    return 0;
}

}  // namespace gradcoll::mover
