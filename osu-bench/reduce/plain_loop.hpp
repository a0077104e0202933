// osu-bench/reduce/plain_loop.hpp - the loop that anyone would write; compiled with -O3
// -march=native.
#pragma once

#include <cstddef>

void plain_sum(const float* a, const float* b, float* out, std::size_t count);
