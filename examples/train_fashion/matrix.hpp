// train_fashion/matrix.hpp - the matrix product, on which the training spends its time.
#pragma once

#include <cstddef>

namespace train {

/// A ConstMatrix is a read-only view: element (r, c) is data[r * row_stride + c * col_stride].
struct ConstMatrix {
    const float* data;
    std::size_t rows;
    std::size_t cols;
    std::size_t row_stride;
    std::size_t col_stride = 1;

    ConstMatrix transposed() const { return {data, cols, rows, col_stride, row_stride}; }
};

/// A Matrix is dense, in row order.
struct Matrix {
    float* data;
    std::size_t rows;
    std::size_t cols;

    operator ConstMatrix() const { return {data, rows, cols, cols}; }
    ConstMatrix transposed() const { return ConstMatrix(*this).transposed(); }
};

/// Computes out = a * b, for a of n x k, b of k x m and out of n x m; out overlaps neither. Every
/// element is added in the order of k without fused multiply-add, so that the bits do not depend on
/// the processor or on how the rows are spread over ranks. Allocates one panel of k x 32 floats.
/// Thread safe. Any size may be 0.
void multiply(ConstMatrix a, ConstMatrix b, Matrix out);

}  // namespace train
