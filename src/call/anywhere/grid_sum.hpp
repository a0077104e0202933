// call/anywhere/grid_sum.hpp - one rank's part in a sum on a grid (reduce/grid.hpp) whose
// contributions are on several ranks: the integers of each step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mpi/request.hpp"
#include "reduce/grid.hpp"
#include "reduce/grid_check.hpp"
#include "runtime/scratch_pool.hpp"
#include "ways/way.hpp"

namespace gradcoll {

/// An IntegerStep is an allreduce in place of integers.
struct IntegerStep {
    void* data = nullptr;
    MPI_Count count = 0;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    bool adds_words = false;  ///< as in a CallManner
    /// If this is not null, it has to fill the data before the step.
    PieceMaker* maker = nullptr;
};

/// A GridSum gives the steps of such a sum, one after the other: each is asked for once, when the
/// one before has been made with all ranks. Input and output are not touched by the steps, and may
/// be the same memory. If the sum is checked (gc_check=sum), check words are added with the words,
/// behind them.
class GridSum final : public PieceMaker, public ResultCheck {
  public:
    /// SpecialsLie says where the second step has which elements are NaN or Inf.
    enum class SpecialsLie : std::uint8_t {
        packed,   ///< those of blocks that have some, one block behind the other
        in_place  ///< each in the place of its element, for steps whose length is planned before
    };

    GridSum() = default;
    /// Takes room for all steps, and looks at the input. `checked_ranks` make a checked sum; 0: it
    /// is not checked. Errors: out_of_memory.
    static Result<GridSum> make(const CallShape& shape, const Binding& binding,
                                ScratchPool& scratch, int checked_ranks);
    /// Returns how many words such a sum has, with its check words.
    static std::size_t word_count(ElementType type, std::size_t count, bool checked);

    /// Returns the first step, which finds the tops of all blocks.
    IntegerStep tops();
    /// Returns the second step; its count is 0 on all ranks if it is not needed.
    IntegerStep specials(SpecialsLie lie);
    /// Returns the last step, which adds. Whoever makes it has the words filled first, and may
    /// round all of them, piece by piece: that overwrites the input of a sum in place.
    IntegerStep words();
    void fill(std::size_t first, std::size_t count) override;
    void round(std::size_t first, std::size_t count) override;
    std::span<std::byte> result(std::size_t first, std::size_t count) override;
    /// Compares the sums of the words with those of the check words; a rank that has got the result
    /// from another one has nothing to compare. Errors: corrupt, naming the elements.
    Status check() const override;
    /// Writes what is left of the result when all steps have been made.
    void finish();

    /// Returns the first step of a rank that takes no part: `room` stays with the caller.
    static IntegerStep tops_in(std::span<GridTop> room);

  private:
    struct Elems;
    GridWords checked_words(std::size_t first, std::size_t count) const;
    std::span<GridCheck> checks() const;
    template <class Of>
    void for_each_special_block(Of&& of) const;

    ElementType type_ = ElementType::f32;
    std::size_t count_ = 0;
    const void* input_ = nullptr;
    void* output_ = nullptr;
    ScratchLease room_;
    std::span<std::int64_t> words_;
    std::span<GridTop> tops_;
    std::span<std::uint8_t> specials_;
    SpecialsLie lie_ = SpecialsLie::packed;
    bool is_rounded_ = false;
    std::size_t data_words_ = 0;  ///< words but for the check words
    int checked_ranks_ = 0;
    bool lacks_sums_ = false;  ///< another rank has had the sums, and gave the result
};

}  // namespace gradcoll
