// mover/profile/aside.hpp - tells the annotations that PyTorch and tools around it write into a
// trace from those of the program; and the times in which a thread does no work of layers, though
// in one.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mover/profile/trace_file.hpp"

namespace gradcoll::mover {

class Aside {
  public:
    /// `spans` are sorted by their start.
    explicit Aside(const std::vector<TraceSpan>& spans);

    /// Returns how much of the time from `start` to `end` the thread spends aside.
    double within(double start_us, double end_us, int thread) const;
    bool at(double us, int thread) const;
    /// Returns whether any thread is aside at that time.
    bool at(double us) const;

  private:
    using Times = std::vector<std::pair<double, double>>;  ///< sorted; none touches another

    std::unordered_map<int, Times> by_thread_;
};

enum class Annotator : std::uint8_t {
    program,  ///< may name a layer
    tool,     ///< names none, but may hold layers or be a part of one
    aside     ///< is no work of the layer that it is in: its time and memory are left out
};

Annotator annotator_of(std::string_view name);

}  // namespace gradcoll::mover
