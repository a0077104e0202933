// A message to oneself completes requests (GC_TEST_THREADS=multiple), above all with a failure.
// Needs two ranks.
#include "comm/self_message.hpp"

#include <thread>

#include "api/api_support.hpp"
#include "attach/attachments.hpp"

namespace gradcoll::test {
namespace {

int handler_calls = 0;
int handler_class = MPI_SUCCESS;
MPI_Comm handler_comm = MPI_COMM_NULL;

void note_error(MPI_Comm* comm, int* code, ...) {  // NOLINT: the signature is MPI's
    ++handler_calls;
    handler_comm = *comm;
    MPI_Error_class(*code, &handler_class);
}

/// SelfMessageTest has a communicator of the user, whose errors are noted, and a message to itself
/// on its private duplicate.
class SelfMessageTest : public testing::Test {
  protected:
    void SetUp() override {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        context = context_of(comm).value();
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        MPI_Comm_create_errhandler(note_error, &handler);
        MPI_Comm_set_errhandler(comm, handler);
        // MPICH 4.0 raises errors of requests there, whatever communicator they are of.
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        MPI_Errhandler_free(&handler);
        message = SelfMessage(context->identity().private_comm(), context->identity().rank(), 77);
        handler_calls = 0;
        handler_class = MPI_SUCCESS;
    }
    void TearDown() override {
        context.reset();
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Comm_free(&comm);
    }

    /// Waits here while another thread sends.
    int wait_for(const Outcome& outcome, MPI_Request* request) {
        std::thread sender([&] { message.send({"a call", user_comm_of(context)}, outcome); });
        const int code = MPI_Wait(request, MPI_STATUS_IGNORE);
        sender.join();
        return code;
    }

    bool codes_pass() const { return codes_pass_handlers(context->identity().private_comm()); }

    MPI_Comm comm = MPI_COMM_NULL;
    std::shared_ptr<CommContext> context;
    SelfMessage message;
};

const Status bad = {Code::corrupt, "a frame that is made up"};

TEST_F(SelfMessageTest, CompletesARequest) {
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_TRUE(message.receive(&request).ok());
    EXPECT_EQ(wait_for(Status(), &request), MPI_SUCCESS);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    EXPECT_EQ(handler_calls, 0);
}

TEST_F(SelfMessageTest, AFailureIsRaisedWhereItIsWaitedForAndReturned) {
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_TRUE(message.receive(&request).ok());
    const int code = wait_for(bad, &request);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    EXPECT_EQ(error_class, codes_pass() ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    EXPECT_EQ(handler_calls, 1);
    EXPECT_EQ(handler_class, MPI_ERR_TRUNCATE);
    if (!codes_pass()) return;
    if (handler_comm == comm)
        EXPECT_NE(error_text(code).find("a frame that is made up"), std::string::npos);
    else
        EXPECT_EQ(handler_comm, MPI_COMM_WORLD);
}

TEST_F(SelfMessageTest, APersistentRequestFailsAndTheNextOneSucceeds) {
    for (const Status& outcome : {Status(), bad, Status()}) {
        MPI_Request request = MPI_REQUEST_NULL;
        ASSERT_TRUE(message.receive_persistent(&request).ok());
        MPI_Start(&request);
        EXPECT_EQ(wait_for(outcome, &request) == MPI_SUCCESS, outcome.ok() || !codes_pass());
        EXPECT_TRUE(outcome.ok() || request == MPI_REQUEST_NULL || !mpi_frees_failed_requests);
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }
    EXPECT_EQ(handler_calls, 1);
}

TEST_F(SelfMessageTest, AUserWhoWantsCodesGetsThem) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (const Status& outcome : {bad, Status(), bad}) {
        MPI_Request request = MPI_REQUEST_NULL;
        ASSERT_TRUE(message.receive(&request).ok());
        EXPECT_EQ(wait_for(outcome, &request) == MPI_SUCCESS, outcome.ok());
    }
    EXPECT_EQ(handler_calls, 0);
}

TEST_F(SelfMessageTest, ErrorsOnPrivateCommunicatorsAreCodes) {
    char nothing = 0;
    int position = 0;
    EXPECT_NE(PMPI_Pack(&nothing, -1, MPI_BYTE, &nothing, 1, &position,
                        context->identity().private_comm()),
              MPI_SUCCESS);
    EXPECT_EQ(handler_calls, 0);
}

}  // namespace
}  // namespace gradcoll::test
