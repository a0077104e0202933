#include "plain_loop.hpp"

void plain_sum(const float* a, const float* b, float* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
}
