// mover/profile/aside.cpp - see aside.hpp.
#include "mover/profile/aside.hpp"

#include <algorithm>

namespace gradcoll::mover {
namespace {

using Times = std::vector<std::pair<double, double>>;

Times::const_iterator first_that_ends_after(const Times& times, double us) {
    return std::upper_bound(times.begin(), times.end(), us,
                            [](double at, const auto& time) { return at < time.second; });
}

bool contains(const Times& times, double us) {
    const auto time = first_that_ends_after(times, us);
    return time != times.end() && time->first <= us;
}

}  // namespace

Aside::Aside(const std::vector<TraceSpan>& spans) {
    for (const TraceSpan& span : spans) {
        Times& times = by_thread_[span.thread];
        if (times.empty() || times.back().second < span.start_us)
            times.emplace_back(span.start_us, span.end_us);
        else
            times.back().second = std::max(times.back().second, span.end_us);
    }
}

double Aside::within(double start_us, double end_us, int thread) const {
    const auto found = by_thread_.find(thread);
    if (found == by_thread_.end()) return 0;
    double sum = 0;
    for (auto time = first_that_ends_after(found->second, start_us);
         time != found->second.end() && time->first < end_us; ++time)
        sum += std::min(end_us, time->second) - std::max(start_us, time->first);
    return sum;
}

bool Aside::at(double us, int thread) const {
    const auto found = by_thread_.find(thread);
    return found != by_thread_.end() && contains(found->second, us);
}

bool Aside::at(double us) const {
    return std::any_of(by_thread_.begin(), by_thread_.end(),
                       [us](const auto& thread) { return contains(thread.second, us); });
}

}  // namespace gradcoll::mover
