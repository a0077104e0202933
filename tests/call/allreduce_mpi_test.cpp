// GC_Allreduce without a codec equals MPI_Allreduce: trees x types x ops x counts, in place and
// not.
#include <algorithm>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

struct TypeUnderTest {
    MPI_Datatype type;
    std::size_t bytes;
    bool floating;
    std::vector<MPI_Op> ops;
};

std::vector<TypeUnderTest> all_types() {
    const std::vector<MPI_Op> arithmetic = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
    const std::vector<MPI_Op> all = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_LAND,
                                     MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
    const std::vector<MPI_Op> bitwise = {MPI_BAND, MPI_BOR, MPI_BXOR};
    return {{MPI_FLOAT, 4, true, arithmetic},
            {MPI_DOUBLE, 8, true, arithmetic},
            {MPI_INT, 4, false, all},
            {MPI_LONG, 8, false, all},
            {MPI_SHORT, 2, false, all},
            {MPI_SIGNED_CHAR, 1, false, all},
            {MPI_UNSIGNED, 4, false, all},
            {MPI_UINT8_T, 1, false, all},
            {MPI_UINT16_T, 2, false, all},
            {MPI_UINT64_T, 8, false, all},
            {MPI_INT64_T, 8, false, all},
            {MPI_BYTE, 1, false, bitwise},
            {MPI_INTEGER, 4, false, arithmetic},
            {MPI_AINT, 8, false, arithmetic}};
}

/// Returns the bytes of `count` values of the type on this rank.
std::vector<std::byte> input_of(const TypeUnderTest& t, int rank, std::size_t count) {
    std::vector<std::byte> bytes(count * t.bytes);
    const auto put = [&](const auto& values) {
        if (count > 0) std::memcpy(bytes.data(), values.data(), bytes.size());
    };
    if (t.floating && t.bytes == 4) put(floats<float>(rank, count));
    if (t.floating && t.bytes == 8) put(floats<double>(rank, count));
    if (!t.floating) put(integers<std::uint8_t>(rank, count * t.bytes));
    return bytes;
}

template <class T>
void expect_close(const std::vector<std::byte>& got, const std::vector<std::byte>& expected,
                  double tolerance) {
    for (std::size_t at = 0; at < got.size(); at += sizeof(T)) {
        T a, b;
        std::memcpy(&a, &got[at], sizeof a);
        std::memcpy(&b, &expected[at], sizeof b);
        ASSERT_LE(std::abs(static_cast<double>(a) - static_cast<double>(b)), tolerance)
            << "element " << at / sizeof(T);
    }
}

/// Any order of adding n values below 1 differs from any other by at most about n^2 roundings of
/// size n; products by n roundings.
void expect_equal_results(const TypeUnderTest& t, MPI_Op op, const std::vector<std::byte>& got,
                          const std::vector<std::byte>& expected, int n) {
    if (!t.floating || op == MPI_MIN || op == MPI_MAX) {
        EXPECT_EQ(got, expected);
        return;
    }
    if (t.bytes == 4)
        expect_close<float>(got, expected, 6e-8 * n * n);
    else
        expect_close<double>(got, expected, 1.2e-16 * n * n);
}

/// Open MPI 4.1 saturates sums of 8- and 16-bit integers where it uses AVX (its other paths, and
/// ours, wrap): such sums are compared on values that do not overflow.
void keep_small(std::vector<std::byte>& input, const TypeUnderTest& t) {
    for (std::size_t at = 0; at < input.size(); ++at)
        input[at] &= at % t.bytes == 0 ? std::byte{0x0f} : std::byte{0};
}

/// MPICH 4.0 compares unsigned integers as signed ones: its minima and maxima are right where the
/// highest bit is not set.
void clear_highest_bits(std::vector<std::byte>& input, const TypeUnderTest& t) {
    for (std::size_t at = t.bytes - 1; at < input.size(); at += t.bytes)
        input[at] &= std::byte{0x7f};
}

bool mpi_compares_unsigned() {
    const std::uint8_t one = 1;
    std::uint8_t most = 255;
    MPI_Reduce_local(&one, &most, 1, MPI_UINT8_T, MPI_MAX);
    return most == 255;
}

void compare_with_mpi(const OwnComm& comm, const TypeUnderTest& t, MPI_Op op, std::size_t count,
                      bool in_place) {
    std::vector<std::byte> input = input_of(t, comm.rank(), count);
    if (op == MPI_SUM && t.bytes <= 2) keep_small(input, t);
    if (!t.floating && (op == MPI_MIN || op == MPI_MAX) && !mpi_compares_unsigned())
        clear_highest_bits(input, t);
    std::vector<std::byte> expected(input.size());
    std::vector<std::byte> got = input;
    const int n = static_cast<int>(count);
    ASSERT_EQ(MPI_Allreduce(input.data(), expected.data(), n, t.type, op, comm), MPI_SUCCESS);
    if (!in_place) std::fill(got.begin(), got.end(), std::byte{0x5a});

    const void* sendbuf = in_place ? MPI_IN_PLACE : input.data();
    ASSERT_EQ(GC_Allreduce(sendbuf, got.data(), n, t.type, op, comm), MPI_SUCCESS);

    expect_equal_results(t, op, got, expected, comm.size());
    EXPECT_TRUE(same_on_all_ranks(got, comm));
}

/// Tries every other pair of type and op on one tree, and the rest on the next (their number is
/// odd).
TEST(Allreduce, EqualsMpiForEveryTypeAndOpOnEveryTree) {
    std::size_t pair = 0;
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const OwnComm comm(tree);
        unsigned long long calls = 0;
        for (const TypeUnderTest& t : all_types())
            for (const MPI_Op op : t.ops) {
                if (++pair % 2 == 0) continue;
                compare_with_mpi(comm, t, op, 131, /*in_place=*/++calls % 2 == 0);
            }
        EXPECT_EQ(comm.stats().calls_tree, calls);
        EXPECT_EQ(comm.stats().calls_passed, 0U);
    }
}

TEST(Allreduce, EqualsMpiForEveryCountOnEveryTree) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const OwnComm comm(tree);
        for (const std::size_t count : {0, 1, 7, 1000, 100003})
            for (const bool in_place : {false, true}) {
                compare_with_mpi(comm, {MPI_FLOAT, 4, true, {}}, MPI_SUM, count, in_place);
                compare_with_mpi(comm, {MPI_LONG, 8, false, {}}, MPI_SUM, count, in_place);
            }
    }
}

TEST(Allreduce, EqualsMpiForAMillionElementsInChunksOfAnySize) {
    const auto trees = trees_for(size_of(MPI_COMM_WORLD));
    const OwnComm comm(trees.back());
    const std::pair<const char*, const char*> chunks[] = {
        {"auto", "  in "}, {"0", "  in one piece"}, {"64K", "  in 62 chunks of 16384 elements"}};
    for (const auto& [chunk, told] : chunks) {
        comm.set("gc_chunk_bytes", chunk);
        if (comm.size() > 1) {
            const std::string text = explained_sum(comm, 1000000, MPI_FLOAT);
            EXPECT_NE(text.find(told), std::string::npos) << chunk << ": " << text;
        }
        compare_with_mpi(comm, {MPI_FLOAT, 4, true, {}}, MPI_SUM, 1000000, /*in_place=*/true);
        compare_with_mpi(comm, {MPI_INT, 4, false, {}}, MPI_BXOR, 1000000, /*in_place=*/false);
    }
}

/// Expects these exchanges, named as in gc_exchange, the last for all levels above.
void expect_exchanges(const OwnComm& comm, const std::string& exchanges, std::size_t count) {
    const std::string text = explained_sum(comm, count, MPI_INT);
    const std::vector<std::string> levels = levels_in(text);
    EXPECT_EQ(levels.empty(), comm.size() == 1) << text;
    std::istringstream names(exchanges);
    std::string name;
    for (const std::string& level : levels) {
        std::getline(names, name, ',');
        EXPECT_NE(level.find(", " + name + " exchange"), std::string::npos) << level;
    }
}

/// Returns what the library lists as possible values.
std::vector<std::string> names_in(GC_List list) {
    int size = 0;
    EXPECT_EQ(GC_Get_list_size(list, &size), MPI_SUCCESS);
    std::vector<std::string> names;
    for (int i = 0; i < size; ++i) {
        GC_List_entry entry{};
        EXPECT_EQ(GC_Get_list_entry(list, i, &entry), MPI_SUCCESS);
        names.emplace_back(entry.name);
    }
    return names;
}

TEST(Allreduce, EveryExchangeGivesWhatMpiGives) {
    std::vector<std::string> exchanges = names_in(GC_LIST_EXCHANGES);
    EXPECT_GE(exchanges.size(), 4U);
    exchanges.insert(exchanges.end(), {"ring,direct", "recursive,single"});
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const OwnComm comm(tree);
        for (const std::string& exchange : exchanges) {
            comm.set("gc_exchange", exchange.c_str());
            expect_exchanges(comm, exchange, 5003);
            compare_with_mpi(comm, {MPI_INT, 4, false, {}}, MPI_SUM, 5003, /*in_place=*/false);
        }
    }
}

TEST(Allreduce, EveryBuilderGivesWhatMpiGives) {
    const std::vector<std::string> builders = names_in(GC_LIST_BUILDERS);
    EXPECT_GE(builders.size(), 1U);
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const OwnComm comm(tree);
        for (const std::string& builder : builders) {
            SCOPED_TRACE(builder);
            comm.set("gc_builder", builder.c_str());
            const std::string text = explained_sum(comm, 5003, MPI_INT);
            const bool told = text.find("built by") != std::string::npos;
            EXPECT_EQ(told, comm.size() > 1 && builder != "flexreduce") << text;
            for (const bool in_place : {false, true})
                compare_with_mpi(comm, {MPI_INT, 4, false, {}}, MPI_SUM, 5003, in_place);
        }
    }
}

void expect_sums_of(MPI_Datatype type, std::uint16_t (*encoded)(float)) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    std::vector<std::uint16_t> values(1000);
    const auto value = [](std::size_t i) { return static_cast<float>(i % 8 + 1); };
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = encoded(value(i));

    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 1000, type, MPI_SUM, comm), MPI_SUCCESS);

    for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(values[i], encoded(value(i) * static_cast<float>(comm.size()))) << i;
    EXPECT_EQ(comm.stats().calls_tree, 1U);
}

TEST(Allreduce, SixteenBitFloatsSumToWhatTheirValuesDo) {
    expect_sums_of(GC_Type_bfloat16(), to_bf16);
    expect_sums_of(GC_Type_float16(), to_f16);
}

TEST(Allreduce, LargeCountFormDoesTheSame) {
    const OwnComm comm("flat");
    std::vector<double> values(3000, 1.5);
    ASSERT_EQ(GC_Allreduce_c(MPI_IN_PLACE, values.data(), 3000, MPI_DOUBLE, MPI_SUM, comm),
              MPI_SUCCESS);
    EXPECT_EQ(values, std::vector<double>(3000, 1.5 * comm.size()));
}

TEST(Allreduce, ShortExactVectorsPassAndTheStatisticsSayWhy) {
    const OwnComm comm;
    comm.set("gc_shm_bytes", "0");
    std::vector<float> values(16, 1.0F);
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 16, MPI_FLOAT, MPI_SUM, comm), MPI_SUCCESS);
    EXPECT_EQ(values, std::vector<float>(16, static_cast<float>(comm.size())));
    if (comm.size() == 1) return;
    EXPECT_EQ(comm.stats().calls_passed, 1U);
    EXPECT_NE(std::string(comm.stats().last_pass_reason).find("gc_tree_min_bytes"),
              std::string::npos);
}

TEST(Allreduce, SelfCommunicatorCopies) {
    const std::vector<float> input = floats<float>(3, 50000);
    std::vector<float> output(input.size());
    ASSERT_EQ(GC_Allreduce(input.data(), output.data(), 50000, MPI_FLOAT, MPI_SUM, MPI_COMM_SELF),
              MPI_SUCCESS);
    EXPECT_EQ(output, input);
}

}  // namespace
}  // namespace gradcoll::test
