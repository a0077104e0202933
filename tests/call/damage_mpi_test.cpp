// gc_check=sum, end to end: this program flips a bit in a message that one rank sends. Every kind
// of call that goes over the tree ends with an error on all ranks, and the next one is right.
// GC_TRANSPORTS=mpi, so that all messages are those of MPI.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>

#include "api/api_support.hpp"

namespace {

/// The next message of at least this many bytes gets a flipped bit; 0: none does.
std::atomic<int> least_bytes{0};
/// A message leaves from a copy, so that the sender's own memory stays as it is.
std::vector<char> flipped;

}  // namespace

/// Takes the place of the MPI library's function, as the library calls it.
extern "C" int PMPI_Isend(const void* data, int count, MPI_Datatype type, int peer, int tag,
                          MPI_Comm comm, MPI_Request* request) {
    static const auto next =
        reinterpret_cast<decltype(&PMPI_Isend)>(dlsym(RTLD_NEXT, "PMPI_Isend"));
    const int least = least_bytes;
    if (least == 0 || type != MPI_BYTE || count < least)
        return next(data, count, type, peer, tag, comm, request);
    least_bytes = 0;
    flipped.assign(static_cast<const char*>(data), static_cast<const char*>(data) + count);
    flipped[static_cast<std::size_t>(count) / 2] ^= 4;
    return next(flipped.data(), count, type, peer, tag, comm, request);
}

namespace gradcoll::test {
namespace {

constexpr int count = 60'000;
using Floats = std::vector<float>;

/// Makes a call of each rank's `in`, and returns its code.
using MakeCall = int (*)(const OwnComm& comm, const Floats& in, Floats& out);

int blocking(const OwnComm& comm, const Floats& in, Floats& out) {
    return GC_Allreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, comm);
}

int nonblocking(const OwnComm& comm, const Floats& in, Floats& out) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code =
        GC_Iallreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, comm, &request);
    return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int persistent(const OwnComm& comm, const Floats& in, Floats& out) {
    GC_Request request = GC_REQUEST_NULL;
    int code = GC_Allreduce_init(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, comm,
                                 MPI_INFO_NULL, &request);
    if (code == MPI_SUCCESS) code = GC_Start(&request);
    if (code == MPI_SUCCESS) code = GC_Wait(&request);
    GC_Request_free(&request);
    return code;
}

/// An engine has settings of its own.
int of_engine(const OwnComm& comm, const Floats& in, Floats& out) {
    const Info info{{"gc_check", "sum"}, {"gc_tree_min_bytes", "0"}, {"gc_shm_bytes", "0"}};
    GC_Engine engine = GC_ENGINE_NULL;
    int code = GC_Engine_create(comm, info, &engine);
    GC_Handle handle = GC_HANDLE_NULL;
    if (code == MPI_SUCCESS)
        code = GC_Submit(engine, "w", in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, 0, &handle);
    if (code == MPI_SUCCESS) code = GC_Handle_wait(&handle);
    GC_Engine_free(&engine);
    return code;
}

int scattered(const OwnComm& comm, const Floats& in, Floats& out) {
    return GC_Reduce_scatter_block(in.data(), out.data(), count / comm.size(), MPI_FLOAT, MPI_SUM,
                                   comm);
}

int gathered(const OwnComm& comm, const Floats& in, Floats& out) {
    return GC_Allgather(in.data(), count / comm.size(), MPI_FLOAT, out.data(), count / comm.size(),
                        MPI_FLOAT, comm);
}

/// Calls three times. A message of one rank's second call is flipped.
void expect_damage_found(const OwnComm& comm, MakeCall call, int sender) {
    Floats in(count), first(count), second(count), third(count);
    for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<float>((i + static_cast<std::size_t>(comm.rank())) % 97);
    ASSERT_EQ(call(comm, in, first), MPI_SUCCESS);
    if (comm.rank() == sender) least_bytes = 1000;
    const int code = call(comm, in, second);
    EXPECT_EQ(least_bytes, 0) << "no message was flipped";
    EXPECT_NE(code, MPI_SUCCESS);
    const std::string text = error_text(code);
    const bool finds =
        text.find("message from rank " + std::to_string(sender)) != std::string::npos &&
        text.find("came damaged") != std::string::npos;
    EXPECT_TRUE(finds || text.find("cannot go on") != std::string::npos) << text;
    int finders = finds ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &finders, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(finders, 1);
    ASSERT_EQ(call(comm, in, third), MPI_SUCCESS);
    EXPECT_EQ(third, first);
}

class Damage : public testing::Test {
  protected:
    void SetUp() override {
        if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "nothing is sent";
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        alarm(240);  // a call that hangs is a failure
    }
    void TearDown() override { alarm(0); }
};

TEST_F(Damage, IsFoundInEveryKindOfCall) {
    for (const MakeCall call : {blocking, nonblocking, persistent, of_engine, scattered, gathered})
        for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
            SCOPED_TRACE(tree);
            const OwnComm comm(tree);
            comm.set("gc_check", "sum");
            expect_damage_found(comm, call, comm.size() - 1);
        }
}

TEST_F(Damage, IsFoundInEncodedMessages) {
    for (const char* codec : {"2:4", "int8", "bound/abs=0.1", "int8+zstd"}) {
        SCOPED_TRACE(codec);
        const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
        comm.set("gc_check", "local+sum");
        ASSERT_EQ(GC_Comm_set_codec(comm, codec), MPI_SUCCESS);
        expect_damage_found(comm, blocking, 0);
    }
}

TEST_F(Damage, IsFoundInSumsThatAreTheSameAnywhere) {
    for (const MakeCall call : {blocking, nonblocking, persistent}) {
        const OwnComm comm("flat");
        comm.set("gc_reproducible", "anywhere");
        comm.set("gc_check", "sum");
        expect_damage_found(comm, call, 1);
    }
}

/// Without the check the same flip is a wrong sum that nobody sees.
TEST_F(Damage, IsNotSeenWithoutTheCheck) {
    const OwnComm comm("flat");
    Floats in(count, 1.0F), out(count);
    if (comm.rank() == 0) least_bytes = 1000;
    EXPECT_EQ(blocking(comm, in, out), MPI_SUCCESS);
    int right = out == Floats(count, static_cast<float>(comm.size())) ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    EXPECT_EQ(right, 0);
}

}  // namespace
}  // namespace gradcoll::test
