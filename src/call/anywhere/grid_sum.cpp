#include "call/anywhere/grid_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gradcoll {

std::size_t GridSum::word_count(ElementType type, std::size_t count, bool checked) {
    const std::size_t words = count * grid_words(type);
    return checked ? words + grid_checks(words) * sizeof(GridCheck) / sizeof(std::int64_t) : words;
}

Result<GridSum> GridSum::make(const CallShape& shape, const Binding& binding, ScratchPool& scratch,
                              int checked_ranks) {
    GridSum sum;
    sum.type_ = shape.type;
    sum.count_ = static_cast<std::size_t>(shape.count);
    sum.input_ = binding.input;
    sum.output_ = binding.output;
    const std::size_t word_count = GridSum::word_count(shape.type, sum.count_, checked_ranks > 0);
    sum.data_words_ = sum.count_ * grid_words(shape.type);
    sum.checked_ranks_ = checked_ranks;
    const std::size_t words_bytes = word_count * sizeof(std::int64_t);
    const std::size_t blocks = grid_blocks(sum.count_);
    const std::size_t tops_bytes = blocks * sizeof(GridTop);
    GRADCOLL_TRY(take(sum.room_, scratch.borrow(words_bytes + tops_bytes + sum.count_)));
    std::byte* const room = sum.room_.data();
    sum.words_ = {reinterpret_cast<std::int64_t*>(room), word_count};
    sum.tops_ = {reinterpret_cast<GridTop*>(room + words_bytes), blocks};
    sum.specials_ = {reinterpret_cast<std::uint8_t*>(room + words_bytes + tops_bytes), sum.count_};
    find_tops(sum.type_, sum.input_, sum.count_, sum.tops_.data());
    return sum;
}

IntegerStep GridSum::tops_in(std::span<GridTop> room) {
    return {room.data(), static_cast<MPI_Count>(2 * room.size()), MPI_UINT16_T, MPI_MAX};
}

IntegerStep GridSum::tops() {
    return tops_in(tops_);
}

IntegerStep GridSum::words() {
    return {words_.data(), static_cast<MPI_Count>(words_.size()), MPI_INT64_T, MPI_SUM, true, this};
}

/// Counts of words are those of whole blocks, but for the last one. Check words have no elements.
struct GridSum::Elems {
    std::size_t first, count, byte;
    Elems(const GridSum& sum, std::size_t first_word, std::size_t word_count)
        : first(std::min(first_word, sum.data_words_) / grid_words(sum.type_)),
          count(std::min(first_word + word_count, sum.data_words_) / grid_words(sum.type_) - first),
          byte(first * element_bytes(sum.type_)) {}
    std::size_t block() const { return first / grid_block_elems; }
};

void GridSum::fill(std::size_t first, std::size_t count) {
    const Elems elems(*this, first, count);
    to_grid(type_, static_cast<const std::byte*>(input_) + elems.byte, elems.count,
            tops_.data() + elems.block(), words_.data() + first);
    if (checked_ranks_ > 0 && elems.count > 0)
        find_checks(checked_words(first, elems.count * grid_words(type_)), 1,
                    &checks()[first / grid_check_words]);
}

/// Returns the words from `first` on, with their tops.
GridWords GridSum::checked_words(std::size_t first, std::size_t count) const {
    const std::size_t words_per_top = grid_block_elems * grid_words(type_);
    return {words_.subspan(first, count), tops_.subspan(first / words_per_top), words_per_top};
}

/// Returns the check words, which lie behind the others.
std::span<GridCheck> GridSum::checks() const {
    return {reinterpret_cast<GridCheck*>(words_.data() + data_words_), grid_checks(data_words_)};
}

Status GridSum::check() const {
    if (checked_ranks_ == 0 || lacks_sums_) return {};
    for (std::size_t at = 0; at < checks().size(); ++at) {
        const std::size_t first = at * grid_check_words;
        const std::size_t count = std::min(grid_check_words, data_words_ - first);
        GridCheck found;
        find_checks(checked_words(first, count), checked_ranks_, &found);
        if (found == checks()[at]) continue;
        return {Code::corrupt,
                fmt::format("elements {} to {} of this sum are not what was added: their check "
                            "words differ",
                            first / grid_words(type_), (first + count) / grid_words(type_) - 1)};
    }
    return {};
}

void GridSum::round(std::size_t first, std::size_t count) {
    const Elems elems(*this, first, count);
    from_grid(type_, words_.data() + first, elems.count, tops_.data() + elems.block(),
              static_cast<std::byte*>(output_) + elems.byte);
    is_rounded_ = true;
    lacks_sums_ = false;
}

std::span<std::byte> GridSum::result(std::size_t first, std::size_t count) {
    const Elems elems(*this, first, count);
    is_rounded_ = lacks_sums_ = true;
    return {static_cast<std::byte*>(output_) + elems.byte, elems.count * element_bytes(type_)};
}

/// Calls `of(first, count, place)` for the blocks that have NaN or Inf on some rank; `place` is
/// where the specials of the block are.
template <class Of>
void GridSum::for_each_special_block(Of&& of) const {
    std::size_t packed = 0;
    for (std::size_t block = 0; block < tops_.size(); ++block) {
        if (tops_[block].has_specials == 0) continue;
        const std::size_t first = block * grid_block_elems;
        const std::size_t elems = std::min(grid_block_elems, count_ - first);
        of(first, elems, lie_ == SpecialsLie::packed ? packed : first);
        packed += elems;
    }
}

IntegerStep GridSum::specials(SpecialsLie lie) {
    lie_ = lie;
    std::size_t packed = 0;
    for_each_special_block([&](std::size_t, std::size_t elems, std::size_t) { packed += elems; });
    if (packed == 0) return {};
    const std::size_t count = lie == SpecialsLie::packed ? packed : count_;
    std::fill_n(specials_.begin(), count, std::uint8_t{0});
    for_each_special_block([&](std::size_t first, std::size_t elems, std::size_t place) {
        const auto* const in = static_cast<const std::byte*>(input_);
        find_specials(type_, in + first * element_bytes(type_), elems, &specials_[place]);
    });
    return {specials_.data(), static_cast<MPI_Count>(count), MPI_UINT8_T, MPI_BOR};
}

void GridSum::finish() {
    if (!is_rounded_ && count_ > 0) round(0, words_.size());
    for_each_special_block([&](std::size_t first, std::size_t elems, std::size_t place) {
        auto* const out = static_cast<std::byte*>(output_);
        put_specials(type_, &specials_[place], elems, out + first * element_bytes(type_));
    });
}

}  // namespace gradcoll
