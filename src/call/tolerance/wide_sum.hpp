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

/// A vector of a call in the wider type of its elements, in memory of its own: the input, and then
/// the result in its place.
class WideVector {
  public:
    /// It has room for `count` elements of `type`. Errors: out_of_memory.
    static Result<WideVector> make(ElementType type, std::size_t count);
    void* data() { return data_.get(); }
    void fill(const void* input) { widen(type_, input, count_, data_.get()); }
    /// The first `count` elements, rounded; `output`: null if they are only looked at. Returns how
    /// far they may be off then, if each is off by up to `off` now.
    double round(std::size_t count, double off, void* output) const {
        return narrow(type_, data_.get(), count, off, output);
    }

  private:
    ElementType type_ = ElementType::f32;
    std::size_t count_ = 0;
    std::unique_ptr<std::byte[]> data_;
};

/// It describes the call in the type that the budget adds in, with vectors in host memory.
CallShape shape_of_adding(const CallShape& shape, const LossBudget& budget);
/// With the vector in the wider type, in place: of so many elements, or blocks of so many. The
/// arguments themselves if `wide` is null.
CallArguments arguments_in(void* wide, const CallArguments& arguments, ElementType type,
                           MPI_Count elems);
/// How it goes: through no agents, and without codecs where nothing is left for them.
KeptTolerance kept_in(const Settings& settings, const CallShape& shape, const KeptTolerance& kept);

/// Where the vectors of a sum are, in host memory.
struct SumBuffers {
    const void* input = nullptr;  ///< as many elements as the shape says
    void* output = nullptr;
    std::size_t output_elems = 0;
    bool is_alike = true;  ///< all ranks get the same elements
};
/// One run of a sum, as it is or in the wider type: `wide`, in place, or null.
using RunOnce =
    std::function<Status(void* wide, const CallShape& shape, const KeptTolerance& kept)>;

/// Runs a sum so that it keeps its tolerance; `kept` as keep_tolerance() says. Where nothing is
/// promised, or the call as it is surely keeps it, that is one run. Errors: those of the runs;
/// unsupported, on every rank, where it is not kept: the output then holds what is nearest.
Status run_kept(CommContext& context, const CallShape& shape, const KeptTolerance& kept,
                const SumBuffers& buffers, const RunOnce& run);

}  // namespace gradcoll
