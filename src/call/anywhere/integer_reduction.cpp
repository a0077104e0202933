#include "call/anywhere/integer_reduction.hpp"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "reduce/grid.hpp"
#include "reduce/many.hpp"
#include "reduce/ordered_keys.hpp"

namespace gradcoll {
namespace {

Status cannot_keep(const std::string& what) {
    return {Code::unsupported,
            fmt::format("gc_reproducible=anywhere: {}; allowed are sums, MPI_MIN and MPI_MAX of "
                        "fp16, bf16, fp32, fp64 and complex numbers of them, and what adds no "
                        "floats",
                        what)};
}

bool is_of_two_values(MPI_Op op) {
    return op == MPI_MINLOC || op == MPI_MAXLOC;
}

IntegerStep step_of(std::vector<GridTop>& tops) {
    return {tops.data(), static_cast<MPI_Count>(2 * tops.size()), MPI_UINT16_T, MPI_MAX};
}

MPI_Datatype integer_of(std::size_t bytes) {
    if (bytes == 2) return MPI_INT16_T;
    return bytes == 4 ? MPI_INT32_T : MPI_INT64_T;
}

/// GridSum makes a sum in up to three steps: the tops of all blocks, the words, and which elements
/// are NaN or Inf where there are any.
class GridSum {
  public:
    GridSum(const CallShape& shape, const void* input, void* output)
        : type_(shape.type),
          count_(static_cast<std::size_t>(shape.count)),
          input_(input),
          output_(output) {}

    Status run(const RunIntegerStep& run_step) {
        const std::size_t word_count = count_ * grid_words(type_);
        std::vector<GridTop> tops(grid_blocks(count_));
        const std::unique_ptr<std::int64_t[]> words(new (std::nothrow) std::int64_t[word_count]);
        if (words == nullptr)
            return {Code::out_of_memory,
                    fmt::format("gc_reproducible=anywhere: no memory for {} words of the vector",
                                word_count)};
        find_tops(type_, input_, count_, tops.data());
        GRADCOLL_TRY(run_step(step_of(tops)));
        to_grid(type_, input_, count_, tops.data(), words.get());
        GRADCOLL_TRY(
            run_step({words.get(), static_cast<MPI_Count>(word_count), MPI_INT64_T, MPI_SUM}));
        std::vector<std::uint8_t> specials = specials_of(tops);
        if (!specials.empty())
            GRADCOLL_TRY(run_step(
                {specials.data(), static_cast<MPI_Count>(specials.size()), MPI_UINT8_T, MPI_BOR}));
        from_grid(type_, words.get(), count_, tops.data(), output_);
        write_specials(tops, specials);
        return {};
    }

  private:
    /// Calls `of(first, count, place)` for the blocks that have NaN or Inf on some rank; `place` is
    /// where such a block begins if they lie one behind the other.
    template <class Of>
    void for_each_special_block(const std::vector<GridTop>& tops, Of&& of) const {
        std::size_t place = 0;
        for (std::size_t block = 0; block < tops.size(); ++block) {
            if (tops[block].has_specials == 0) continue;
            const std::size_t first = block * grid_block_elems;
            const std::size_t elems = std::min(grid_block_elems, count_ - first);
            of(first, elems, place);
            place += elems;
        }
    }
    std::vector<std::uint8_t> specials_of(const std::vector<GridTop>& tops) const {
        std::vector<std::uint8_t> specials;
        for_each_special_block(tops, [&](std::size_t first, std::size_t elems, std::size_t place) {
            specials.resize(place + elems);
            const auto* const in = static_cast<const std::byte*>(input_);
            find_specials(type_, in + first * element_bytes(type_), elems, &specials[place]);
        });
        return specials;
    }
    void write_specials(const std::vector<GridTop>& tops,
                        const std::vector<std::uint8_t>& specials) const {
        for_each_special_block(tops, [&](std::size_t first, std::size_t elems, std::size_t place) {
            auto* const out = static_cast<std::byte*>(output_);
            put_specials(type_, &specials[place], elems, out + first * element_bytes(type_));
        });
    }

    ElementType type_;
    std::size_t count_;
    const void* input_;
    void* output_;
};

}  // namespace

Status check_same_anywhere(const CallShape& shape, PassReason reason, MPI_Op op, int rank_count) {
    if (reason == PassReason::intercommunicator) return cannot_keep("comm is an intercommunicator");
    if (reason == PassReason::unequal_blocks) return cannot_keep("recvcounts differ");
    if (reason != PassReason::none || shape.by_mpi())
        return is_of_two_values(op) ? Status()
                                    : cannot_keep(
                                          "datatype is derived or has no kernels here, or op is "
                                          "user-defined or has none");
    if (!is_floating(shape.type)) return {};
    if (rank_count > most_grid_contributions)
        return cannot_keep(
            fmt::format("comm has {} ranks, more than {}", rank_count, most_grid_contributions));
    const bool is_known =
        shape.op == ReduceOp::sum || shape.op == ReduceOp::min || shape.op == ReduceOp::max;
    return is_known
               ? Status()
               : cannot_keep(fmt::format("op is {} of {}", name_of(shape.op), name_of(shape.type)));
}

Status only_blocking_anywhere() {
    return {Code::unsupported,
            "gc_reproducible=anywhere: persistent reductions of floats, those with a residual, and "
            "nonblocking ones but sums in the memory of one host are not made that way; allowed "
            "are blocking ones"};
}

Reducer reducer_at_once(CommContext& context, const Route& route, const CallShape& shape) {
    if (shape.op != ReduceOp::sum || !route.goes(one_host_way()) || route.passes()) return {};
    const Reducer reducer = grid_reducer(shape.type);
    return context.one_host().takes(reducer) ? reducer : Reducer();
}

Status reduce_in_integers(const CallShape& shape, const void* input, void* output,
                          const RunIntegerStep& run) {
    if (shape.op == ReduceOp::sum) return GridSum(shape, input, output).run(run);
    const auto count = static_cast<std::size_t>(shape.count);
    if (input != output) std::memcpy(output, input, shape.size_bytes());
    to_ordered_keys(shape.type, shape.op, output, count);
    GRADCOLL_TRY(run({output, shape.count, integer_of(shape.elem_bytes),
                      shape.op == ReduceOp::min ? MPI_MIN : MPI_MAX}));
    from_ordered_keys(shape.type, shape.op, output, count);
    return {};
}

void refuse_in_integers(const CallShape& shape, const RunIntegerStep& run) {
    std::vector<GridTop> tops;
    std::vector<std::byte> keys;
    if (shape.op == ReduceOp::sum) {
        tops.resize(grid_blocks(static_cast<std::size_t>(shape.count)));
        (void)run(step_of(tops));
        return;
    }
    keys.resize(shape.size_bytes());
    (void)run({keys.data(), shape.count, integer_of(shape.elem_bytes),
               shape.op == ReduceOp::min ? MPI_MIN : MPI_MAX});
}

}  // namespace gradcoll
