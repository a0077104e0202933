// train_fashion/matrix.cpp - a blocked product in plain loops that the compiler turns into vector
// code, compiled once for each instruction set. Tiles of 4 x 32 sums stay in registers while k
// runs; panels of b are packed (and padded with zeros), so that a transposed b and the last columns
// need no code of their own.
#include "matrix.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace train {
namespace {

constexpr std::size_t tile_rows = 4;
constexpr std::size_t tile_cols = 32;

using Panel = std::vector<float>;  // k rows of tile_cols

/// TileRows points to the rows of a that one tile reads; the last valid row stands in for those
/// beyond the end.
using TileRows = std::array<const float*, tile_rows>;

void pack_panel(ConstMatrix b, std::size_t first_col, Panel& panel) {
    const std::size_t width = std::min(tile_cols, b.cols - first_col);
    for (std::size_t k = 0; k < b.rows; ++k) {
        const float* in = b.data + k * b.row_stride + first_col * b.col_stride;
        float* out = panel.data() + k * tile_cols;
        for (std::size_t j = 0; j < width; ++j) out[j] = in[j * b.col_stride];
    }
}

[[gnu::always_inline]] inline void multiply_tile(const TileRows& a, std::size_t col_stride,
                                                 const float* __restrict panel, std::size_t depth,
                                                 float (&__restrict sums)[tile_rows][tile_cols]) {
    float acc[tile_rows][tile_cols] = {};
    for (std::size_t k = 0; k < depth; ++k) {
        const float* __restrict b = panel + k * tile_cols;
        for (std::size_t i = 0; i < tile_rows; ++i) {
            const float factor = a[i][k * col_stride];
            for (std::size_t j = 0; j < tile_cols; ++j) acc[i][j] += factor * b[j];
        }
    }
    for (std::size_t i = 0; i < tile_rows; ++i)
        for (std::size_t j = 0; j < tile_cols; ++j) sums[i][j] = acc[i][j];
}

[[gnu::always_inline]] inline void multiply_panel(ConstMatrix a, const Panel& panel,
                                                  std::size_t first_col, Matrix out) {
    const std::size_t width = std::min(tile_cols, out.cols - first_col);
    for (std::size_t row = 0; row < a.rows; row += tile_rows) {
        TileRows rows{};
        for (std::size_t i = 0; i < tile_rows; ++i)
            rows[i] = a.data + std::min(row + i, a.rows - 1) * a.row_stride;
        float sums[tile_rows][tile_cols];
        multiply_tile(rows, a.col_stride, panel.data(), a.cols, sums);
        for (std::size_t i = 0; i < std::min(tile_rows, a.rows - row); ++i)
            std::copy_n(sums[i], width, out.data + (row + i) * out.cols + first_col);
    }
}

using MultiplyPanel = void (*)(ConstMatrix, const Panel&, std::size_t, Matrix);

void multiply_panel_plain(ConstMatrix a, const Panel& panel, std::size_t first_col, Matrix out) {
    multiply_panel(a, panel, first_col, out);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void multiply_panel_avx2(ConstMatrix a, const Panel& panel,
                                                 std::size_t first_col, Matrix out) {
    multiply_panel(a, panel, first_col, out);
}
[[gnu::target("avx512f")]] void multiply_panel_avx512(ConstMatrix a, const Panel& panel,
                                                      std::size_t first_col, Matrix out) {
    multiply_panel(a, panel, first_col, out);
}
MultiplyPanel best_multiply_panel() {
    if (__builtin_cpu_supports("avx512f")) return multiply_panel_avx512;
    if (__builtin_cpu_supports("avx2")) return multiply_panel_avx2;
    return multiply_panel_plain;
}
#else
MultiplyPanel best_multiply_panel() {
    return multiply_panel_plain;
}
#endif

}  // namespace

void multiply(ConstMatrix a, ConstMatrix b, Matrix out) {
    static const MultiplyPanel kernel = best_multiply_panel();
    Panel panel(b.rows * tile_cols);
    for (std::size_t col = 0; col < out.cols; col += tile_cols) {
        if (b.cols - col < tile_cols) std::fill(panel.begin(), panel.end(), 0.0F);
        pack_panel(b, col, panel);
        kernel(a, panel, col, out);
    }
}

}  // namespace train
