// Ops and types of the program: who calls the ops with what, handles that are used again, gaps.
#include <algorithm>
#include <array>
#include <complex>
#include <thread>

#include "api/interposed/support.hpp"
#include "call/reductions.hpp"

namespace gradcoll::test {
namespace {

/// Expects that some handle came twice: otherwise the test would try nothing. The address sanitizer
/// keeps freed memory apart, so there it expects nothing.
template <class Handle>
void expect_one_twice([[maybe_unused]] std::vector<Handle> handles) {
#ifndef __SANITIZE_ADDRESS__
    std::ranges::sort(handles);
    EXPECT_NE(std::ranges::adjacent_find(handles), handles.end()) << "no handle came twice";
#endif
}

// ---- ops of the program

std::thread::id caller;
std::uintptr_t misplaced = 0;
void watch(void* in, void* inout, int* count, MPI_Datatype*) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_GT(*count, 0);
    misplaced |= reinterpret_cast<std::uintptr_t>(in) % alignof(long double);
    misplaced |= reinterpret_cast<std::uintptr_t>(inout) % alignof(long double);
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);  // programs do this, although it is not allowed
    for (int i = 0; i < *count; ++i)
        static_cast<long double*>(inout)[i] += static_cast<const long double*>(in)[i];
}

TEST(OpsOfTheProgram, AreCalledByTheCallerWithAlignedElements) {
    const PlainComm comm;
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(watch, 1, &op);
    caller = std::this_thread::get_id();
    misplaced = 0;
    for (const int count : {1, 3, 1000, 50001}) {
        std::vector<long double> values(static_cast<std::size_t>(count), comm.rank() + 1.0L);
        const auto sum = static_cast<long double>(comm.size() * (comm.size() + 1) / 2);
        ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_LONG_DOUBLE, op, comm),
                  MPI_SUCCESS);
        EXPECT_EQ(values, std::vector<long double>(values.size(), sum));
    }
    EXPECT_EQ(misplaced, 0U);
    MPI_Op_free(&op);
}

void take_sum(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}
void take_product(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] *= static_cast<const int*>(in)[i];
}
void take_first(void* in, void* inout, int* count, MPI_Datatype*) {
    std::memcpy(inout, in, sizeof(int) * static_cast<std::size_t>(*count));
}

int value_of_all(MPI_User_function* function, int mine, MPI_Comm comm, MPI_Op& op) {
    MPI_Op_create(function, function == take_first ? 0 : 1, &op);
    const MPI_Op made = op;
    std::vector<int> values(40, mine);
    EXPECT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 40, MPI_INT, op, comm), MPI_SUCCESS);
    EXPECT_EQ(values, std::vector<int>(40, values[0]));
    MPI_Op_free(&op);
    op = made;
    return values[0];
}

TEST(OpsOfTheProgram, MayHaveTheHandleOfOneThatWasFreed) {
    const PlainComm comm;
    std::vector<MPI_Op> handles;
    const auto value = [&](MPI_User_function* function) {
        return value_of_all(function, 2 + comm.rank(), comm, handles.emplace_back());
    };
    int sum = 0, product = 1;
    for (int rank = 0; rank < comm.size(); ++rank) {
        sum += 2 + rank;
        product *= 2 + rank;
    }
    for (int round = 0; round < 5; ++round) {
        EXPECT_EQ(value(take_sum), sum);
        EXPECT_EQ(value(take_product), product);
        EXPECT_EQ(value(take_first), 2);
    }
    expect_one_twice(std::move(handles));
}

// ---- types of the program

class TypesOfTheProgram : public testing::Test {
  protected:
    TypesOfTheProgram() { MPI_Op_create(compose_maps, 0, &op_); }
    ~TypesOfTheProgram() override { MPI_Op_free(&op_); }

    /// Returns a type of so many bytes, with a gap behind them.
    static MPI_Datatype bytes_type(int bytes, int gap) {
        MPI_Datatype plain = MPI_DATATYPE_NULL;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(bytes, MPI_BYTE, &plain);
        MPI_Type_create_resized(plain, 0, bytes + gap, &type);
        MPI_Type_free(&plain);
        return type;
    }

    const PlainComm comm_;
    MPI_Op op_ = MPI_OP_NULL;
};

void xor_bytes(void* in, void* inout, int* count, MPI_Datatype* type) {
    MPI_Aint lower = 0, extent = 0;
    int size = 0;
    MPI_Type_get_extent(*type, &lower, &extent);
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *count; ++i)
        for (int k = 0; k < size; ++k) {
            const auto* from = static_cast<const unsigned char*>(in) + i * extent + k;
            static_cast<unsigned char*>(inout)[i * extent + k] ^= *from;
        }
}

/// Expects the xor of all elements, and that the gaps stay as they are.
void expect_xor(MPI_Datatype type, int bytes, int gap, MPI_Op op, const PlainComm& comm) {
    const auto extent = static_cast<std::size_t>(bytes + gap);
    std::vector<unsigned char> in(50 * extent, 0x55);
    std::vector<unsigned char> out(50 * extent, 0xaa);
    int expected = 0;
    for (int rank = 0; rank < comm.size(); ++rank) expected ^= rank + 1;
    for (std::size_t i = 0; i < in.size(); ++i)
        if (i % extent < static_cast<std::size_t>(bytes))
            in[i] = static_cast<unsigned char>(comm.rank() + 1);
    ASSERT_EQ(GC_Allreduce(in.data(), out.data(), 50, type, op, comm), MPI_SUCCESS);
    for (std::size_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], i % extent < static_cast<std::size_t>(bytes) ? expected : 0xaa) << i;
}

TEST_F(TypesOfTheProgram, MayHaveTheHandleOfOneThatWasFreed) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(xor_bytes, 1, &op);
    std::vector<MPI_Datatype> handles;
    for (int round = 0; round < 4; ++round)
        for (const int bytes : {3, 16, 5})
            for (const int gap : {0, 4}) {
                MPI_Datatype type = bytes_type(bytes, gap);
                handles.push_back(type);
                MPI_Type_commit(&type);
                expect_xor(type, bytes, gap, op, comm_);
                expect_xor(type, bytes, gap, op, comm_);
                MPI_Type_free(&type);
            }
    MPI_Op_free(&op);
    expect_one_twice(std::move(handles));
    if (comm_.size() == 1) return;
    EXPECT_EQ(comm_.stats().calls_tree, 48U);
}

TEST_F(TypesOfTheProgram, MustBeCommitted) {
    std::vector<std::byte> in(300), out(300);
    for (int round = 0; round < 2; ++round) {
        MPI_Datatype type = bytes_type(3, 0);
        const int code = GC_Allreduce(in.data(), out.data(), 100, type, op_, comm_);
        EXPECT_EQ(class_of(code), MPI_ERR_TYPE) << error_text(code);
        const auto offered = [&] {
            return connected().allreduce(in.data(), out.data(), 100, type, op_, comm_).served;
        };
        EXPECT_FALSE(offered());
        MPI_Type_commit(&type);
        EXPECT_EQ(offered(), comm_.size() > 1);
        MPI_Type_free(&type);
    }
}

TEST_F(TypesOfTheProgram, AreLeftToMpiIfTheirElementsAreHuge) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(xor_bytes, 1, &op);
    for (const int bytes : {4000, 16384, 16385, 100000}) {
        const PlainComm comm;
        MPI_Datatype type = bytes_type(bytes, 0);
        MPI_Type_commit(&type);
        expect_xor(type, bytes, 0, op, comm);
        if (comm.size() > 1) {
            const bool fits = bytes <= 16384 && bytes * comm.size() <= 65536;
            EXPECT_EQ(comm.stats().calls_tree, fits ? 1U : 0U) << bytes;
        }
        MPI_Type_free(&type);
    }
    MPI_Op_free(&op);
}

TEST_F(TypesOfTheProgram, WithoutAnyBytesAreLeftToMpi) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(0, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(xor_bytes, 1, &op);
    int value = 5;
    EXPECT_EQ(GC_Allreduce(MPI_IN_PLACE, &value, 1, type, op, comm_), MPI_SUCCESS);
    EXPECT_EQ(value, 5);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

TEST_F(TypesOfTheProgram, MayShareTheirGaps) {
    MPI_Datatype every_other = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_UINT64_T, 0, 16, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(xor_bytes, 1, &op);
    for (const std::size_t count : {1, 100, 30000}) {
        // Inputs and results lie in turns, with nothing behind the last.
        std::vector<std::uint64_t> both(2 * count);
        for (std::size_t i = 0; i < count; ++i) both[2 * i] = 1U << comm_.rank();
        ASSERT_EQ(GC_Allreduce(&both[0], &both[1], static_cast<int>(count), every_other, op, comm_),
                  MPI_SUCCESS);
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(both[2 * i], 1U << comm_.rank());
            ASSERT_EQ(both[2 * i + 1], (1U << comm_.size()) - 1U);
        }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&every_other);
    if (comm_.size() > 1) {
        EXPECT_EQ(comm_.stats().calls_tree, 3U);
    }
}

struct Place {
    double value;
    int rank;
};
void take_larger(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) {
        const Place& other = static_cast<const Place*>(in)[i];
        Place& mine = static_cast<Place*>(inout)[i];
        if (other.value >= mine.value) mine = other;
    }
}

TEST_F(TypesOfTheProgram, AreStructuresAsCompilersPadThem) {
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {offsetof(Place, value), offsetof(Place, rank)};
    const MPI_Datatype members[] = {MPI_DOUBLE, MPI_INT};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths, places, members, &type);
    MPI_Type_commit(&type);
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(take_larger, 1, &op);
    const auto place_of = [](int rank, std::size_t i) {
        return Place{static_cast<double>((static_cast<std::size_t>(rank) + i) % 7), rank};
    };
    for (const std::size_t count : {1, 1000, 100003}) {
        std::vector<Place> places_of_all(count), mine(count);
        for (std::size_t i = 0; i < count; ++i) mine[i] = place_of(comm_.rank(), i);
        ASSERT_EQ(GC_Allreduce(mine.data(), places_of_all.data(), static_cast<int>(count), type, op,
                               comm_),
                  MPI_SUCCESS);
        ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, mine.data(), static_cast<int>(count), type, op, comm_),
                  MPI_SUCCESS);
        for (std::size_t i = 0; i < count; ++i) {
            Place best = place_of(0, i);
            for (int rank = 1; rank < comm_.size(); ++rank)
                if (place_of(rank, i).value > best.value) best = place_of(rank, i);
            ASSERT_EQ(places_of_all[i].value, best.value);
            ASSERT_EQ(places_of_all[i].rank, best.rank);
            ASSERT_EQ(mine[i].rank, best.rank);
        }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    if (comm_.size() > 1) {
        EXPECT_EQ(comm_.stats().calls_tree, 6U);
    }
}

// ---- types of one signature, laid out otherwise on each rank

/// Layout says where an element's three numbers are, counted in numbers from the buffer on.
struct Layout {
    std::array<std::ptrdiff_t, 3> at;
    std::ptrdiff_t step;  ///< from one element to the next
};
Layout layout_in_use;

void sum_laid_out(void* in, void* inout, int* count, MPI_Datatype*) {
    const auto [at, step] = layout_in_use;
    for (std::ptrdiff_t i = 0; i < *count; ++i)
        for (std::size_t k = 0; k < at.size(); ++k)
            static_cast<std::int32_t*>(inout)[i * step + at[k]] +=
                static_cast<const std::int32_t*>(in)[i * step + at[k]];
}

MPI_Datatype type_in(const Layout& layout) {
    constexpr auto bytes = static_cast<MPI_Aint>(sizeof(std::int32_t));
    std::array<MPI_Aint, 3> places{};
    for (std::size_t k = 0; k < places.size(); ++k) places[k] = layout.at[k] * bytes;
    MPI_Datatype element = MPI_DATATYPE_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed_block(3, 1, places.data(), MPI_INT32_T, &element);
    MPI_Type_create_resized(element, 0, layout.step * bytes, &type);
    MPI_Type_free(&element);
    MPI_Type_commit(&type);
    return type;
}

constexpr std::int32_t untouched = -77;

class LaidOut {
  public:
    LaidOut(const Layout& layout, std::size_t count) : layout_(layout), count_(count) {
        const auto last = static_cast<std::ptrdiff_t>(count - 1) * layout.step;
        const auto [least, most] = std::ranges::minmax(layout.at);
        const std::ptrdiff_t before = std::min<std::ptrdiff_t>(0, last + least);
        origin_ = static_cast<std::size_t>(-before);
        numbers_.assign(
            origin_ + static_cast<std::size_t>(std::max<std::ptrdiff_t>(last, 0) + most + 1),
            untouched);
    }
    void* data() { return &numbers_[origin_]; }
    std::int32_t& at(std::size_t element, std::size_t k) {
        return numbers_[static_cast<std::size_t>(
            static_cast<std::ptrdiff_t>(origin_) +
            static_cast<std::ptrdiff_t>(element) * layout_.step + layout_.at[k])];
    }
    /// Returns how many numbers are untouched; those of no element have to be.
    std::size_t untouched_count() const {
        return static_cast<std::size_t>(std::ranges::count(numbers_, untouched));
    }
    std::size_t gap_count() const { return numbers_.size() - 3 * count_; }

  private:
    Layout layout_;
    std::size_t count_;
    std::size_t origin_ = 0;
    std::vector<std::int32_t> numbers_;
};

std::int32_t input_of(int rank, std::size_t element, std::size_t k) {
    return static_cast<std::int32_t>(10 * rank + static_cast<int>(element % 7 + 100 * k));
}

std::int32_t sum_of_inputs(int ranks, std::size_t element, std::size_t k) {
    std::int32_t sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += input_of(rank, element, k);
    return sum;
}

void expect_sums_of_layouts(const PlainComm& comm, MPI_Op op, const Layout& mine, std::size_t count,
                            bool in_place) {
    layout_in_use = mine;
    MPI_Datatype type = type_in(mine);
    LaidOut in(mine, count), out(mine, count);
    LaidOut& input = in_place ? out : in;
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < 3; ++k) input.at(i, k) = input_of(comm.rank(), i, k);
    ASSERT_EQ(GC_Allreduce(in_place ? MPI_IN_PLACE : in.data(), out.data(), static_cast<int>(count),
                           type, op, comm),
              MPI_SUCCESS);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < 3; ++k)
            ASSERT_EQ(out.at(i, k), sum_of_inputs(comm.size(), i, k)) << i << " " << k;
    EXPECT_EQ(out.untouched_count(), out.gap_count());
    MPI_Type_free(&type);
}

/// What only one rank knows decides nothing: the size of elements in memory, gaps, order, the sign
/// of steps.
TEST_F(TypesOfTheProgram, MayBeLaidOutOtherwiseOnEachRank) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(sum_laid_out, 0, &op);
    std::uint64_t calls = 0;
    for (const std::size_t count : {1, 10, 1000, 30000}) {
        const auto elements = static_cast<std::ptrdiff_t>(count);
        const Layout layouts[] = {
            {{0, 1, 2}, 3},   {{0, 2, 1}, 3},  {{2, 1, 0}, 3}, {{0, 4, 5}, 7},
            {{3, 4, 9}, 10},  {{0, 1, 2}, -3}, {{5, 6, 7}, 3}, {{0, elements, 2 * elements}, 1},
            {{1, 2, 3}, 6000}};
        constexpr std::size_t kinds = std::size(layouts);
        for (std::size_t shift = 0; shift < kinds; ++shift)
            for (const bool in_place : {false, true}) {
                std::size_t kind = (static_cast<std::size_t>(comm_.rank()) + shift) % kinds;
                if (kind == kinds - 1 && count > 1000) kind = 1;  // hundreds of megabytes
                expect_sums_of_layouts(comm_, op, layouts[kind], count, in_place);
                ++calls;
            }
    }
    MPI_Op_free(&op);
    if (comm_.size() > 1) {
        EXPECT_EQ(comm_.stats().calls_tree, calls);
    }
}

TEST_F(TypesOfTheProgram, WithGapsInOneBufferForBothAreAnErrorOnEveryRank) {
    if (comm_.size() == 1) GTEST_SKIP() << "needs two ranks";
    MPI_Datatype type = bytes_type(8, comm_.rank() == 0 ? 8 : 0);
    MPI_Type_commit(&type);
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(xor_bytes, 1, &op);
    std::vector<std::byte> in(320), out(320);
    const int code =
        GC_Allreduce(comm_.rank() == 0 ? out.data() : in.data(), out.data(), 20, type, op, comm_);
    EXPECT_NE(code, MPI_SUCCESS);
    EXPECT_NE(error_text(code).find(comm_.rank() == 0 ? "overlap" : "rank 0"), std::string::npos)
        << error_text(code);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

// ---- types by precision, as Fortran asks for them

template <class Number>
std::uint64_t calls_compressed_of(MPI_Datatype type) {
    const PlainComm comm;
    GC_Comm_set_option(comm, "gc_compress_if", "always");
    GC_Comm_set_codec(comm, "int16");
    const auto number = [](int value) {
        return Number(static_cast<decltype(std::abs(Number()))>(value));
    };
    const std::vector<Number> values(20'000, number(comm.rank() + 1));
    std::vector<Number> result(values.size());
    EXPECT_EQ(GC_Allreduce(values.data(), result.data(), 20'000, type, MPI_SUM, comm), MPI_SUCCESS);
    const Number sum = number(comm.size() * (comm.size() + 1) / 2);
    EXPECT_EQ(result, std::vector<Number>(values.size(), sum));
    return comm.stats().calls_compressed;
}

TEST(TypesByPrecision, AreSummedAndCompressedLikeTheNumbersThatTheyAre) {
    MPI_Datatype of_6 = MPI_DATATYPE_NULL, of_15 = MPI_DATATYPE_NULL;
    MPI_Datatype complex_of_6 = MPI_DATATYPE_NULL, of_9 = MPI_DATATYPE_NULL;
    MPI_Type_create_f90_real(6, MPI_UNDEFINED, &of_6);
    MPI_Type_create_f90_real(15, 300, &of_15);
    MPI_Type_create_f90_complex(6, 30, &complex_of_6);
    MPI_Type_create_f90_integer(9, &of_9);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::uint64_t compressed = ranks > 1 ? 1 : 0;
    EXPECT_EQ(calls_compressed_of<float>(of_6), compressed);
    EXPECT_EQ(calls_compressed_of<double>(of_15), compressed);
    EXPECT_EQ(calls_compressed_of<std::complex<float>>(complex_of_6), compressed);
    EXPECT_EQ(calls_compressed_of<std::int32_t>(of_9), 0U);
}

}  // namespace
}  // namespace gradcoll::test
