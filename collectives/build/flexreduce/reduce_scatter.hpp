// collectives/build/flexreduce/reduce_scatter.hpp - the way up: at each vertex every owner sends
// the parts that it will not keep to the owners that will, and adds what it receives to its own.
#pragma once

#include "collectives/build/flexreduce/level.hpp"
#include "collectives/build/transfer.hpp"

namespace gradcoll {

/// ReduceScatter appends the reduce-scatter of one level after another, leaves to root. Sums are
/// kept in `sums` (output or work), but those of elements of `result` in the output; if
/// `from_input`, the rank's own values come from the input and are added at its first level.
class ReduceScatter {
  public:
    ReduceScatter(Transfer& transfer, Slot sums, bool from_input, Range result = {})
        : transfer_(transfer), sums_(sums), from_input_(from_input), result_(result) {}

    void append(const Level& level);

  private:
    struct Incoming;

    void append_round(const Level& level, const Round& round);
    void append_single(const Level& level);
    Parcel held_in_scratch(const std::vector<Range>& held, Slot source);
    void add_in_order(const Level& level, const std::vector<std::vector<Incoming>>& incoming,
                      const Parcel& own);
    void bring_together(const Level& level, const Hop& hop);
    std::vector<Incoming> receive(std::vector<Message> messages, CodecId codec);
    void add(const Level& level, const Hop& hop, const std::vector<Incoming>& incoming);
    void send(const Level& level, const Message& message, Slot source);
    /// Returns where the sums of a range are kept, which lies in `result` or outside it.
    Slot sums_of(Range range) const {
        return intersect(range, result_).empty() ? sums_ : Slot::output();
    }
    /// Returns whether this rank's values of a part are still in the input at this level.
    bool is_in_input(int part) const {
        return from_input_ && !summed_[static_cast<std::size_t>(part)];
    }

    Transfer& transfer_;
    Slot sums_;
    bool from_input_;
    Range result_;
    std::vector<char> summed_;  ///< by part: whether its sum has been begun in sums_
};

}  // namespace gradcoll
