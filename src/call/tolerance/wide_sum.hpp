// call/tolerance/wide_sum.hpp - how a sum keeps gc_tolerance while it runs: in the wider type where
// its budget says so, rounded once at the end, and looked at where only the result shows whether
// the promise is kept.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "call/tolerance/tolerance.hpp"
#include "reduce/widen.hpp"

namespace gradcoll {

/// WideVector is a vector of a call in the wider type of its elements, in memory of its own: first
/// the input, and then the result in its place.
class WideVector {
  public:
    /// Makes one with room for `count` elements of `type`, the type of the call. Errors:
    /// out_of_memory.
    static Result<WideVector> make(ElementType type, std::size_t count);
    void* data() { return data_.get(); }
    void fill(const void* input) { widen(type_, input, count_, data_.get()); }
    /// Writes the first `count` elements, rounded, to `output`, or only looks at them if that is
    /// null. Returns how far they may be off then, if each is off by up to `off` now.
    double round(std::size_t count, double off, void* output) const {
        return narrow(type_, data_.get(), count, off, output);
    }

  private:
    ElementType type_ = ElementType::f32;
    std::size_t count_ = 0;
    std::unique_ptr<std::byte[]> data_;
};

/// Returns the shape of the call in the type that the budget adds in, with vectors in host memory.
CallShape shape_of_adding(const CallShape& shape, const LossBudget& budget);
/// Returns the arguments of the call in place on `wide`, the vector in the wider type: `elems` is
/// its number of elements, or of those of a block. Returns `arguments` themselves if `wide` is
/// null.
CallArguments arguments_in(void* wide, const CallArguments& arguments, ElementType type,
                           MPI_Count elems);
/// Returns how the sum in the wider type goes: never through agents, and without codecs if nothing
/// is left for them.
KeptTolerance kept_in(const Settings& settings, const CallShape& shape, const KeptTolerance& kept);

/// SumBuffers says where the vectors of a sum are, in host memory.
struct SumBuffers {
    const void* input = nullptr;  ///< as many elements as the shape says
    void* output = nullptr;
    std::size_t output_elems = 0;
    bool is_alike = true;  ///< all ranks get the same elements
};
/// RunOnce runs a sum once: in place on `wide`, in the wider type, or as the call has it if that is
/// null.
using RunOnce =
    std::function<Status(void* wide, const CallShape& shape, const KeptTolerance& kept)>;

/// Runs a sum so that it keeps its tolerance; `kept` is what keep_tolerance() returned. It takes
/// one run if nothing is promised, or if the call as it is surely keeps the promise. Errors: those
/// of the runs; unsupported, on every rank, if it is not kept: the output then holds the nearest
/// result.
Status run_kept(CommContext& context, const CallShape& shape, const KeptTolerance& kept,
                const SumBuffers& buffers, const RunOnce& run);

}  // namespace gradcoll
