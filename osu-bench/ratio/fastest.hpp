// osu-bench/ratio/fastest.hpp - measures the time of work that nothing disturbs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

namespace gradcoll::bench {

/// Returns the time of the fastest of several runs.
template <class Work>
double fastest_seconds(int repetitions, Work work) {
    double fastest = HUGE_VAL;
    for (int i = 0; i < repetitions; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        fastest = std::min(fastest, took.count());
    }
    return fastest;
}

}  // namespace gradcoll::bench
