// A rank whose own buffers are wrong tells the others: nobody waits for ever, all know whose fault
// it is, and the communicator can be used again.
#include <unistd.h>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

using Floats = std::vector<float>;

void expect_sum(const OwnComm& comm, std::size_t count) {
    const Floats in(count, static_cast<float>(comm.rank() + 1));
    Floats out(count, -1.0F);
    ASSERT_EQ(
        GC_Allreduce(in.data(), out.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM, comm),
        MPI_SUCCESS);
    const float sum = static_cast<float>(comm.size() * (comm.size() + 1)) / 2;
    EXPECT_EQ(out, Floats(count, sum));
}

/// Expects that the call is refused, and that the communicator works before and after it.
void expect_refused(const OwnComm& comm, std::size_t count, int refusing) {
    SCOPED_TRACE(std::to_string(count) + " elements, rank " + std::to_string(refusing));
    const Floats in(count, 1.0F);
    Floats out(count);
    const bool refuses = comm.rank() == refusing;
    const int code = GC_Allreduce(refuses ? nullptr : in.data(), out.data(),
                                  static_cast<int>(count), MPI_FLOAT, MPI_SUM, comm);
    const std::string text = error_text(code);
    EXPECT_EQ(class_of(code), refuses ? MPI_ERR_BUFFER : MPI_ERR_OTHER) << text;
    const std::string told = "rank " + std::to_string(refusing) + " cannot go on: a buffer";
    const bool fits = count > 8 * static_cast<std::size_t>(comm.size());
    EXPECT_NE(text.find(refuses ? "sendbuf"
                        : fits  ? told
                                : "cannot go on"),
              std::string::npos)
        << text;
}

void expect_refusals(const OwnComm& comm) {
    if (comm.size() == 1) GTEST_SKIP() << "nobody else waits";
    alarm(120);  // a call that hangs is a failure
    for (const std::size_t count : {std::size_t{1}, std::size_t{100}, std::size_t{300'000}})
        for (int refusing = 0; refusing < comm.size(); ++refusing) {
            expect_refused(comm, count, refusing);
            expect_sum(comm, count);
        }
    alarm(0);
}

TEST(Refusal, OverTrees) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        expect_refusals(OwnComm(tree));
    }
}

TEST(Refusal, OverTreesWithCodecs) {
    for (const char* codec : {"bf16", "2:4+int8", "bound/abs=1e-3+zstd"}) {
        SCOPED_TRACE(codec);
        const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
        ASSERT_EQ(GC_Comm_set_codec(comm, codec), MPI_SUCCESS);
        if (comm.size() == 1) GTEST_SKIP() << "nobody else waits";
        expect_refused(comm, 300'000, comm.size() - 1);
    }
}

TEST(Refusal, ThroughTheMemoryOfOneHost) {
    expect_refusals(OwnComm());
}

/// The other ranks look at their inputs before the call.
TEST(Refusal, WithATolerance) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (comm.size() == 1) GTEST_SKIP() << "nobody else waits";
    comm.set("gc_tolerance", "abs=0.1");
    const Floats in(5000, 1.0F);
    Floats out(5000);
    const bool refuses = comm.rank() == 0;
    EXPECT_NE(
        GC_Allreduce(refuses ? nullptr : in.data(), out.data(), 5000, MPI_FLOAT, MPI_SUM, comm),
        MPI_SUCCESS);
    expect_sum(comm, 5000);
}

enum class Blocks { scattered, gathered };

/// Makes a call with blocks of so many elements. A rank that refuses has no input, or sends one
/// element more than it gets.
int call_blocks(const OwnComm& comm, Blocks kind, int count, bool refuses, bool sends_more) {
    const Floats in(static_cast<std::size_t>(count * comm.size() + 1), 1.0F);
    Floats out(static_cast<std::size_t>(count * comm.size()));
    const float* const input = refuses && !sends_more ? nullptr : in.data();
    const int more = refuses && sends_more ? 1 : 0;
    return kind == Blocks::scattered
               ? GC_Reduce_scatter_block(input, out.data(), count, MPI_FLOAT, MPI_SUM, comm)
               : GC_Allgather(input, count + more, MPI_FLOAT, out.data(), count, MPI_FLOAT, comm);
}

void expect_blocks_refused(const OwnComm& comm) {
    if (comm.size() == 1) GTEST_SKIP() << "nobody else waits";
    alarm(120);  // a call that hangs is a failure
    for (const Blocks kind : {Blocks::scattered, Blocks::gathered})
        for (const bool sends_more : {false, true})
            for (const int count : {20, 100'000})
                for (int refusing = 0; refusing < comm.size(); ++refusing) {
                    SCOPED_TRACE(std::to_string(count) + " elements, rank " +
                                 std::to_string(refusing));
                    if (sends_more && kind == Blocks::scattered) continue;
                    const bool refuses = comm.rank() == refusing;
                    const int code = call_blocks(comm, kind, count, refuses, sends_more);
                    const int own = sends_more ? MPI_ERR_COUNT : MPI_ERR_BUFFER;
                    EXPECT_EQ(class_of(code), refuses ? own : MPI_ERR_OTHER) << error_text(code);
                    EXPECT_EQ(call_blocks(comm, kind, count, false, false), MPI_SUCCESS);
                    expect_sum(comm, 1000);
                }
    alarm(0);
}

TEST(Refusal, OfBlocksOverTrees) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const OwnComm comm(tree);
        comm.set("gc_tree_min_bytes", "0");
        expect_blocks_refused(comm);
    }
}

TEST(Refusal, OfBlocksThroughTheMemoryOfOneHost) {
    expect_blocks_refused(OwnComm());
}

/// Makes a request in place and returns the error of starting or ending it.
int call_persistent(const OwnComm& comm, Floats& vector, MPI_Datatype datatype, MPI_Op op) {
    GC_Request request = GC_REQUEST_NULL;
    int code = GC_Allreduce_init(MPI_IN_PLACE, vector.data(), static_cast<MPI_Count>(vector.size()),
                                 datatype, op, comm, MPI_INFO_NULL, &request);
    if (code != MPI_SUCCESS) return code;
    code = GC_Start(&request);
    if (code == MPI_SUCCESS) code = GC_Wait(&request);
    EXPECT_EQ(GC_Request_free(&request), MPI_SUCCESS);
    return code;
}

int call_blocking(const OwnComm& comm, Floats& vector, MPI_Datatype datatype, MPI_Op op) {
    return GC_Allreduce(MPI_IN_PLACE, vector.data(), static_cast<int>(vector.size()), datatype, op,
                        comm);
}

TEST(Refusal, OfPersistentCalls) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const OwnComm comm(tree);
        alarm(60);  // a call that hangs is a failure
        Floats vector(1000, 1.0F);
        GC_Request request = GC_REQUEST_NULL;
        const bool refuses = comm.rank() == comm.size() - 1;
        const int code = GC_Allreduce_init(MPI_IN_PLACE, refuses ? nullptr : vector.data(), 1000,
                                           MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &request);
        EXPECT_EQ(class_of(code), refuses ? MPI_ERR_BUFFER : MPI_ERR_ARG) << error_text(code);
        EXPECT_NE(error_text(code).find("recvbuf is null"), std::string::npos) << error_text(code);
        EXPECT_EQ(request, GC_REQUEST_NULL);
        EXPECT_EQ(call_persistent(comm, vector, MPI_FLOAT, MPI_SUM), MPI_SUCCESS);
        EXPECT_EQ(vector, Floats(1000, static_cast<float>(comm.size())));
        alarm(0);
    }
}

/// Ranks meet when the request is set up, whatever their counts would lead to.
TEST(Refusal, OfPersistentCallsOfOtherCounts) {
    if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "nobody differs";
    alarm(60);  // a call that hangs is a failure
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD)))
        for (const int other : {1, 999, 300'000}) {
            SCOPED_TRACE(tree + ", " + std::to_string(other) + " elements");
            const OwnComm comm(tree);
            Floats vector(300'000, 1.0F);
            GC_Request request = GC_REQUEST_NULL;
            const bool differs = comm.rank() == comm.size() - 1;
            const int code = GC_Allreduce_init(MPI_IN_PLACE, vector.data(), differs ? other : 1000,
                                               MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &request);
            EXPECT_EQ(class_of(code), MPI_ERR_ARG) << error_text(code);
            EXPECT_NE(error_text(code).find("count"), std::string::npos) << error_text(code);
            EXPECT_EQ(request, GC_REQUEST_NULL);
            expect_sum(comm, 1000);
        }
    alarm(0);
}

/// The ranks' calls have the same exchange, and pieces of one size, but different numbers of
/// pieces.
TEST(Refusal, OfCallsOfOtherNumbersOfPieces) {
    if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "nobody differs";
    alarm(120);  // a call that hangs is a failure
    // The seconds that ranks wait are the same on all trees.
    const std::string tree = trees_for(size_of(MPI_COMM_WORLD)).back();
    const OwnComm comm(tree);
    comm.set("gc_tree_min_bytes", "0");
    comm.set("gc_chunk_bytes", "64K");
    comm.set("gc_exchange", "direct");
    expect_sum(comm, 100'000);
    const bool differs = comm.rank() == comm.size() - 1;
    Floats vector(100'000, 1.0F);
    EXPECT_NE(GC_Allreduce(MPI_IN_PLACE, vector.data(), differs ? 50'000 : 100'000, MPI_FLOAT,
                           MPI_SUM, comm),
              MPI_SUCCESS);
    // Messages that were sent in vain might be taken for others.
    EXPECT_NE(GC_Allreduce(MPI_IN_PLACE, vector.data(), 100'000, MPI_FLOAT, MPI_SUM, comm),
              MPI_SUCCESS);
    const OwnComm next(tree);
    expect_sum(next, 100'000);
    alarm(0);
}

/// Plans and messages are the same for types of one size, and for all ops.
TEST(Refusal, OfDatatypesAndOpsThatDiffer) {
    if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "nobody differs";
    alarm(120);  // a call that hangs is a failure
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD)))
        for (const auto call : {call_blocking, call_persistent})
            for (const bool other_type : {false, true})
                for (const std::size_t count : {std::size_t{1000}, std::size_t{300'000}}) {
                    SCOPED_TRACE(tree + ", " + std::to_string(count) + " elements");
                    const OwnComm comm(tree);
                    comm.set("gc_tree_min_bytes", "0");
                    const bool differs = comm.rank() == comm.size() - 1;
                    Floats vector(count, 1.0F);
                    const int code = call(comm, vector, differs && other_type ? MPI_INT : MPI_FLOAT,
                                          differs && !other_type ? MPI_MAX : MPI_SUM);
                    EXPECT_NE(code, MPI_SUCCESS);
                    expect_sum(comm, count);
                    expect_sum(comm, count);
                }
    alarm(0);
}

/// The test refuses the first call of a communicator, which attaches it.
TEST(Refusal, OfTheFirstCall) {
    const OwnComm comm;
    if (comm.size() == 1) GTEST_SKIP() << "nobody else waits";
    float value = 1;
    float* const out = comm.rank() == 0 ? nullptr : &value;
    EXPECT_NE(GC_Allreduce(MPI_IN_PLACE, out, 1, MPI_FLOAT, MPI_SUM, comm), MPI_SUCCESS);
    expect_sum(comm, 10);
}

}  // namespace
}  // namespace gradcoll::test
