#include "observe/step_trace.hpp"

#include "base/clock.hpp"

namespace gradcoll {
namespace {

constexpr std::uint64_t least_ns = 100;
constexpr std::int64_t no_step = -1;
constexpr int nobody = -1;

}  // namespace

void StepTrace::add(const char* name, int peer, std::int64_t step) {
    const std::uint64_t now = now_ns();
    if (now - last_ns_ >= least_ns)
        trace_.add(
            {.name = name, .begin_ns = last_ns_, .end_ns = now, .peer = peer, .chunk = step});
    last_ns_ = now;
}

void StepTrace::begins() {
    last_ns_ = now_ns();
}

void StepTrace::has_announced(std::uint32_t step) {
    add("write", nobody, step);
}

void StepTrace::waits() {
    add("read", nobody, no_step);
}

void StepTrace::has_waited(int rank, std::uint32_t step) {
    add("wait", rank, step);
}

void StepTrace::ends() {
    add("read", nobody, no_step);
}

}  // namespace gradcoll
