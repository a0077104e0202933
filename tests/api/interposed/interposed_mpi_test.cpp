// What libgradcoll_pmpi may ask of the library: the table called as the interposer calls it, with
// the settings that programs have by default.
#include <limits>
#include <numeric>

#include "api/interposed/support.hpp"
#include "support/fortran_numbers.h"

namespace gradcoll::test {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

using Floats = std::vector<float>;

/// Returns a vector of rank r that has r + 1 everywhere.
Floats ones_of(const PlainComm& comm, std::size_t count = long_count) {
    return Floats(count, static_cast<float>(comm.rank() + 1));
}
Floats sums_of(const PlainComm& comm, std::size_t count = long_count) {
    return Floats(count, static_cast<float>(comm.size() * (comm.size() + 1) / 2));
}

/// Returns whether a plain sum of `count` floats is served, and checks its result if so.
bool serves_sum(const PlainComm& comm, std::size_t count = long_count) {
    const Floats input = ones_of(comm, count);
    Floats output(count, -1.0F);
    const Answer answer = connected().allreduce(
        input.data(), output.data(), static_cast<std::int64_t>(count), MPI_FLOAT, MPI_SUM, comm);
    if (!answer.served) {
        EXPECT_EQ(output, Floats(count, -1.0F)) << "a call that is left must not be touched";
        return false;
    }
    EXPECT_EQ(answer.code, MPI_SUCCESS);
    EXPECT_EQ(output, sums_of(comm, count));
    return true;
}

bool alone() {
    return size_of(MPI_COMM_WORLD) == 1;
}

// ---- what is served, and what is left

TEST(Interposed, AnotherVersionIsRefused) {
    GC_Gate gate = {};
    EXPECT_EQ(GC_Interposer_connect(GC_INTERPOSER_VERSION + 1, &gate), nullptr);
    EXPECT_EQ(GC_Interposer_connect(GC_INTERPOSER_VERSION, nullptr), nullptr);
}

TEST(Interposed, ALongAllreduceIsServedIfThereIsSomeoneToTalkTo) {
    const PlainComm comm;
    EXPECT_EQ(serves_sum(comm), comm.size() > 1);
    EXPECT_EQ(comm.is_attached(), comm.size() > 1);
}

TEST(Interposed, AShortAllreduceIsLeftAndAttachesNothing) {
    const PlainComm comm;
    EXPECT_FALSE(serves_sum(comm, 1000));
    EXPECT_FALSE(comm.is_attached());
}

TEST(Interposed, AShortAllreduceIsLeftOnAnAttachedCommunicatorAndCounted) {
    const PlainComm comm;
    if (!serves_sum(comm)) return;
    EXPECT_FALSE(serves_sum(comm, 1000));
    EXPECT_EQ(comm.stats().calls_tree, 1U);
    EXPECT_EQ(comm.stats().calls_passed, 1U);
    EXPECT_STREQ(comm.stats().last_pass_reason, "vector is shorter than gc_tree_min_bytes");
}

TEST(Interposed, InPlaceIsServed) {
    const PlainComm comm;
    Floats data = ones_of(comm);
    const Answer answer =
        connected().allreduce(MPI_IN_PLACE, data.data(), long_count, MPI_FLOAT, MPI_SUM, comm);
    EXPECT_EQ(answer.served, !alone());
    if (answer.served) {
        EXPECT_EQ(data, sums_of(comm));
    }
}

void int_sum(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

TEST(Interposed, OpsAndTypesWithoutKernelsAreLeftWhereThereIsNoSharedMemory) {
    const PlainComm comm;
    const Table& table = connected();
    std::vector<double> in(long_count);
    std::vector<double> out(long_count);
    MPI_Op user_op = MPI_OP_NULL;
    MPI_Op_create(int_sum, 1, &user_op);
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_FLOAT, &pair);
    MPI_Type_commit(&pair);
    const auto served = [&](MPI_Datatype type, MPI_Op op) {
        return table.allreduce(in.data(), out.data(), long_count / 4, type, op, comm).served;
    };
    EXPECT_FALSE(served(MPI_INT, user_op));
    EXPECT_FALSE(served(pair, user_op));
    EXPECT_FALSE(served(MPI_FLOAT_INT, MPI_MAXLOC));
    EXPECT_FALSE(served(MPI_2INT, MPI_MINLOC));
    EXPECT_FALSE(served(MPI_C_DOUBLE_COMPLEX, MPI_PROD));
    EXPECT_FALSE(served(MPI_LONG_DOUBLE, MPI_MAX));
    EXPECT_FALSE(served(MPI_C_BOOL, MPI_BAND)) << "an error, for the MPI library to raise";
    EXPECT_FALSE(served(MPI_BYTE, MPI_SUM)) << "an error, for the MPI library to raise";
    EXPECT_FALSE(served(MPI_FLOAT, MPI_BAND)) << "an error, for the MPI library to raise";
    EXPECT_FALSE(comm.is_attached());
    MPI_Op_free(&user_op);
    MPI_Type_free(&pair);
}

TEST(Interposed, ComplexSumsAndLogicalOpsAreServed) {
    const PlainComm comm;
    std::vector<double> in(2 * long_count, 1.5), out(in.size());
    const std::vector<char> yes(4 * long_count, 1);
    std::vector<char> all(yes.size());
    const Answer sum = connected().allreduce(in.data(), out.data(), long_count,
                                             MPI_C_DOUBLE_COMPLEX, MPI_SUM, comm);
    const Answer land =
        connected().allreduce(yes.data(), all.data(), 4 * long_count, MPI_C_BOOL, MPI_LAND, comm);
    EXPECT_EQ(sum.served, !alone());
    EXPECT_EQ(land.served, !alone());
    if (alone()) return;
    EXPECT_EQ(out, std::vector<double>(in.size(), 1.5 * comm.size()));
    EXPECT_EQ(all, yes);
}

TEST(Interposed, WrongArgumentsAreLeftForTheMpiLibraryToRefuse) {
    const PlainComm comm;
    const Table& table = connected();
    Floats in = ones_of(comm);
    Floats out(long_count);
    const auto served = [&](const void* send, void* recv, std::int64_t count, MPI_Datatype type,
                            MPI_Op op, MPI_Comm on) {
        return table.allreduce(send, recv, count, type, op, on).served;
    };
    EXPECT_FALSE(served(in.data(), out.data(), -1, MPI_FLOAT, MPI_SUM, comm));
    EXPECT_FALSE(served(in.data(), out.data(), long_count, MPI_DATATYPE_NULL, MPI_SUM, comm));
    EXPECT_FALSE(served(in.data(), out.data(), long_count, MPI_FLOAT, MPI_OP_NULL, comm));
    EXPECT_FALSE(served(in.data(), out.data(), long_count, MPI_FLOAT, MPI_SUM, MPI_COMM_NULL));
    EXPECT_FALSE(served(in.data(), MPI_IN_PLACE, long_count, MPI_FLOAT, MPI_SUM, comm));
    EXPECT_FALSE(comm.is_attached());
    // Open MPI would crash, so if other ranks are told the error comes from this library.
    for (const auto& [send, recv] :
         {std::pair<const void*, void*>{nullptr, out.data()}, {in.data(), nullptr}}) {
        const Answer answer = table.allreduce(send, recv, long_count, MPI_FLOAT, MPI_SUM, comm);
        EXPECT_NE(answer.code, MPI_SUCCESS);
    }
    EXPECT_EQ(comm.is_attached(), !alone()) << "others, whose buffers are right, would attach";
}

TEST(Interposed, SingleRanksAndIntercommunicatorsAreLeft) {
    const Table& table = connected();
    Floats in(long_count, 1.0F);
    Floats out(long_count);
    EXPECT_FALSE(
        table.allreduce(in.data(), out.data(), long_count, MPI_FLOAT, MPI_SUM, MPI_COMM_SELF)
            .served);
    if (alone()) return;
    const int side = rank_of(MPI_COMM_WORLD) == 0 ? 0 : 1;
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side == 0 ? 1 : 0, 7, &inter);
    EXPECT_FALSE(
        table.allreduce(in.data(), out.data(), long_count, MPI_FLOAT, MPI_SUM, inter).served);
    EXPECT_FALSE(
        table.reduce_scatter_block(in.data(), out.data(), 10000, MPI_FLOAT, MPI_SUM, inter).served);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

// ---- buffers that overlap

TEST(Interposed, OneBufferForInputAndResultIsLeftForTheMpiLibraryToRefuse) {
    const PlainComm comm;
    Floats data = ones_of(comm);
    EXPECT_FALSE(connected()
                     .allreduce(data.data(), data.data(), long_count, MPI_FLOAT, MPI_SUM, comm)
                     .served);
}

TEST(Interposed, BuffersThatOverlapOnOneRankOnlyStillGiveTheSum) {
    const PlainComm comm;
    constexpr std::size_t shift = 100;
    Floats data = ones_of(comm, long_count + shift);
    Floats apart(long_count);
    float* const output = comm.rank() == 0 ? data.data() + shift : apart.data();
    const Answer answer =
        connected().allreduce(data.data(), output, long_count, MPI_FLOAT, MPI_SUM, comm);
    ASSERT_EQ(answer.served, !alone());
    if (answer.served) {
        EXPECT_EQ(Floats(output, output + long_count), sums_of(comm));
    }
}

// ---- the block collectives

TEST(Interposed, ReduceScatterBlockIsServed) {
    const PlainComm comm;
    const auto ranks = static_cast<std::size_t>(comm.size());
    const Floats input = ones_of(comm, long_count * ranks);
    Floats block(long_count, -1.0F);
    const Answer answer = connected().reduce_scatter_block(input.data(), block.data(), long_count,
                                                           MPI_FLOAT, MPI_SUM, comm);
    ASSERT_EQ(answer.served, !alone());
    if (answer.served) {
        EXPECT_EQ(block, sums_of(comm));
    }
}

TEST(Interposed, ReduceScatterIsServedIfItsBlocksHaveOneSize) {
    const PlainComm comm;
    const auto ranks = static_cast<std::size_t>(comm.size());
    const Floats input = ones_of(comm, (long_count + 1) * ranks);
    Floats block(long_count + 1, -1.0F);
    const std::vector<int> alike(ranks, long_count);
    const std::vector<std::int64_t> alike_and_long(ranks, long_count);
    std::vector<int> unlike(ranks, long_count);
    unlike.back() += 1;

    const Answer answer = connected().reduce_scatter(input.data(), block.data(), alike.data(),
                                                     MPI_FLOAT, MPI_SUM, comm);
    EXPECT_EQ(answer.served, !alone());
    if (answer.served) {
        EXPECT_EQ(Floats(block.begin(), block.end() - 1), sums_of(comm));
    }
    EXPECT_EQ(connected()
                  .reduce_scatter(input.data(), block.data(), alike_and_long.data(), MPI_FLOAT,
                                  MPI_SUM, comm)
                  .served,
              !alone());
    if (!alone()) {
        EXPECT_FALSE(
            connected()
                .reduce_scatter(input.data(), block.data(), unlike.data(), MPI_FLOAT, MPI_SUM, comm)
                .served);
    }
    EXPECT_FALSE(connected()
                     .reduce_scatter(input.data(), block.data(), static_cast<const int*>(nullptr),
                                     MPI_FLOAT, MPI_SUM, comm)
                     .served);
}

TEST(Interposed, AllgatherIsLeftByDefault) {
    const PlainComm comm;
    const Floats block = ones_of(comm);
    Floats all(long_count * static_cast<std::size_t>(comm.size()));
    EXPECT_FALSE(
        connected()
            .allgather(block.data(), long_count, MPI_FLOAT, all.data(), long_count, MPI_FLOAT, comm)
            .served);
}

// ---- nonblocking and persistent

TEST(Interposed, NonblockingCallsAreLeftWithoutThreads) {
    const PlainComm comm;
    serves_sum(comm);
    const Floats input = ones_of(comm);
    Floats output(long_count);
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_FALSE(
        connected()
            .iallreduce(input.data(), output.data(), long_count, MPI_FLOAT, MPI_SUM, comm, &request)
            .served);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
}

// ---- the gate

TEST(Interposed, TheGateLetsThroughWhatCouldBeServed) {
    const Table& table = connected();
    constexpr std::int64_t complex_of_256_kib = (256 << 10) / 16;
    EXPECT_EQ(table.least(GC_CALL_ALLREDUCE), complex_of_256_kib);
    EXPECT_EQ(table.least(GC_CALL_IALLREDUCE), complex_of_256_kib);
    EXPECT_EQ(table.least(GC_CALL_REDUCE_SCATTER_BLOCK), 1);
    EXPECT_EQ(table.least(GC_CALL_ALLGATHER), never)
        << "by default only one host's memory serves it";
    for (const GC_Call_kind call : {GC_CALL_BARRIER, GC_CALL_BCAST, GC_CALL_REDUCE})
        EXPECT_EQ(table.least(call), never) << "only one host's memory serves it";
}

TEST(Interposed, PcontrolTurnsEverythingOffAndOnAgain) {
    const Table& table = connected();
    const PlainComm comm;
    const bool served = serves_sum(comm);
    const std::int64_t open = table.least(GC_CALL_ALLREDUCE);
    table->pcontrol(0);
    EXPECT_EQ(table.least(GC_CALL_ALLREDUCE), never);
    EXPECT_EQ(table.least(GC_CALL_REDUCE_SCATTER), never);
    EXPECT_FALSE(serves_sum(comm)) << "even if it is offered";
    table->pcontrol(17);
    EXPECT_EQ(table.least(GC_CALL_ALLREDUCE), never) << "levels of other tools change nothing";
    table->pcontrol(1);
    EXPECT_EQ(table.least(GC_CALL_ALLREDUCE), open);
    EXPECT_EQ(serves_sum(comm), served);
}

// ---- settings by info

std::string option_of(MPI_Comm comm, const char* key) {
    char value[256] = {};
    EXPECT_EQ(GC_Comm_get_option(comm, key, value, sizeof value, nullptr), MPI_SUCCESS);
    return value;
}

void tell(const PlainComm& comm, MPI_Info info) {
    connected()->info_was_set(bits_of<MPI_Comm>(comm), bits_of(info));
}

TEST(InterposedInfo, KeysOfOursAreTakenAndLowerTheGate) {
    const PlainComm comm;
    const Info info{{"gc_tree_min_bytes", "4K"}, {"other_key", "1"}};
    tell(comm, info);
    if (alone()) return;
    EXPECT_EQ(option_of(comm, "gc_tree_min_bytes"), "4K");
    EXPECT_EQ(connected().least(GC_CALL_ALLREDUCE), 4096 / 16);
    EXPECT_TRUE(serves_sum(comm, 1024));
    const PlainComm other;
    EXPECT_FALSE(serves_sum(other, 1024)) << "the key belongs to one communicator";
}

TEST(InterposedInfo, OtherKeysAttachNothing) {
    const PlainComm comm;
    const Info info{{"other_key", "1"}};
    tell(comm, info);
    tell(comm, MPI_INFO_NULL);
    EXPECT_FALSE(serves_sum(comm, 1000));
    EXPECT_FALSE(comm.is_attached());
}

TEST(InterposedInfo, BadValuesAreIgnoredOneByOne) {
    const PlainComm comm;
    const Info info{{"gc_codec", "9:3"},
                    {"gc_compress_bytes", "1K"},
                    {"gc_nothing", "1"},
                    {"gc_topology", "((0) (0))"}};
    tell(comm, info);
    if (alone()) return;
    EXPECT_EQ(option_of(comm, "gc_codec"), "exact");
    EXPECT_EQ(option_of(comm, "gc_compress_bytes"), "1K");
    EXPECT_EQ(option_of(comm, "gc_topology"), "auto");
    EXPECT_TRUE(serves_sum(comm));
}

TEST(InterposedInfo, KeysThatSomeRanksLackAreIgnored) {
    const PlainComm comm;
    const Info one{{"gc_compress_bytes", "1K"}, {"gc_tree_min_bytes", "128K"}};
    const Info both{{"gc_tree_min_bytes", "128K"}};
    tell(comm, comm.rank() == 0 ? one : both);
    if (alone()) return;
    EXPECT_EQ(option_of(comm, "gc_compress_bytes"), "64K");
    EXPECT_EQ(option_of(comm, "gc_tree_min_bytes"), "128K");
}

TEST(InterposedInfo, ACodecCompressesFloatSumsOnly) {
    const PlainComm comm;
    const Info info{{"gc_codec", "2:4"}};
    tell(comm, info);
    if (alone()) return;
    const Floats input = ones_of(comm);
    Floats output(long_count);
    const Table& table = connected();
    EXPECT_TRUE(
        table.allreduce(input.data(), output.data(), long_count, MPI_FLOAT, MPI_SUM, comm).served);
    EXPECT_EQ(comm.stats().calls_compressed, 1U);
    EXPECT_TRUE(
        table.allreduce(input.data(), output.data(), long_count, MPI_FLOAT, MPI_MAX, comm).served);
    EXPECT_TRUE(
        table.allreduce(input.data(), output.data(), long_count, MPI_INT, MPI_SUM, comm).served);
    EXPECT_EQ(comm.stats().calls_compressed, 1U);
}

TEST(InterposedInfo, WhatLimitsLossAndIsIgnoredMakesAllExact) {
    const Info unread{{"gc_codec", "2:4"}, {"gc_tolerance", "1e-4"}};
    const Info misspelt{{"gc_codec", "2:4"}, {"gc_tolerence", "abs=1e-4"}};
    const Info plain{{"gc_codec", "2:4"}};
    const Info* const of_rank_0[] = {&unread, &misspelt, &unread, &misspelt};
    const Info* const of_others[] = {&unread, &misspelt, &plain, &plain};
    for (std::size_t i = 0; i < std::size(of_rank_0); ++i) {
        const PlainComm comm;
        tell(comm, comm.rank() == 0 ? *of_rank_0[i] : *of_others[i]);
        if (alone()) return;
        const Floats input = ones_of(comm);
        Floats output(long_count);
        EXPECT_TRUE(
            connected()
                .allreduce(input.data(), output.data(), long_count, MPI_FLOAT, MPI_SUM, comm)
                .served);
        EXPECT_EQ(option_of(comm, "gc_codec"), "2:4");
        EXPECT_EQ(comm.stats().calls_compressed, 0U) << i;
    }
}

TEST(InterposedInfo, NumbersOfCallsChooseWhichAreCompressed) {
    const PlainComm comm;
    const Info info{{"gc_codec", "2:4"}, {"gc_compress_calls", "1,3"}};
    tell(comm, info);
    if (alone()) return;
    const Floats input = ones_of(comm);
    Floats output(long_count);
    std::vector<unsigned long long> compressed;
    for (int call = 0; call < 5; ++call) {
        EXPECT_TRUE(
            connected()
                .allreduce(input.data(), output.data(), long_count, MPI_FLOAT, MPI_SUM, comm)
                .served);
        EXPECT_TRUE(
            connected()
                .allreduce(input.data(), output.data(), long_count, MPI_FLOAT, MPI_MAX, comm)
                .served)
            << "not compressible, so not numbered";
        compressed.push_back(comm.stats().calls_compressed);
    }
    EXPECT_EQ(compressed, (std::vector<unsigned long long>{0, 1, 1, 2, 2}));
}

// ---- many communicators

TEST(Interposed, ThousandsOfCommunicatorsWithShortCallsStayUnattached) {
    for (int i = 0; i < 2000; ++i) {
        const PlainComm comm;
        ASSERT_FALSE(serves_sum(comm, 10));
        if (i % 500 == 0) {
            ASSERT_FALSE(comm.is_attached());
        }
    }
}

// ---- Fortran

TEST(Interposed, HandlesOfFortranBecomeThoseOfC) {
    const Table& table = connected();
    EXPECT_EQ(table->comm_of_fortran(NUMBER_OF(Comm, MPI_COMM_WORLD)), bits_of(MPI_COMM_WORLD));
    EXPECT_EQ(table->datatype_of_fortran(NUMBER_OF(Type, MPI_DOUBLE)), bits_of(MPI_DOUBLE));
    EXPECT_EQ(table->op_of_fortran(NUMBER_OF(Op, MPI_MAX)), bits_of(MPI_MAX));
    EXPECT_EQ(table->info_of_fortran(NUMBER_OF(Info, MPI_INFO_NULL)), bits_of(MPI_INFO_NULL));
    EXPECT_EQ(table->request_of_fortran(NUMBER_OF(Request, MPI_REQUEST_NULL)),
              bits_of(MPI_REQUEST_NULL));
    const MPI_Request none = MPI_REQUEST_NULL;
    EXPECT_EQ(table->request_to_fortran(&none), NUMBER_OF(Request, MPI_REQUEST_NULL));
}

}  // namespace
}  // namespace gradcoll::test
