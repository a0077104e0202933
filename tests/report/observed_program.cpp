// A program with a known number of calls of every kind, for the report and the trace. It knows
// nothing of either, but for `report-now`: then it asks for a report in the middle, as
// MPI_Pcontrol(2) does.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/interposer_table.h"
#include "gradcoll/gradcoll.h"

namespace {

constexpr int large = 1 << 18;  // floats: 1 MiB

void add_up(void* in, void* inout, int* length, MPI_Datatype*) {
    for (int i = 0; i < *length; ++i) static_cast<float*>(inout)[i] += static_cast<float*>(in)[i];
}

void allreduce(int times, int count, MPI_Op op, MPI_Comm comm) {
    std::vector<float> in(static_cast<std::size_t>(count), 1), out(in.size());
    for (int i = 0; i < times; ++i) GC_Allreduce(in.data(), out.data(), count, MPI_FLOAT, op, comm);
}

void iallreduce(int times, MPI_Comm comm) {
    std::vector<float> in(large, 1), out(large);
    for (int i = 0; i < times; ++i) {
        MPI_Request request = MPI_REQUEST_NULL;
        GC_Iallreduce(in.data(), out.data(), large, MPI_FLOAT, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

void persistent(int starts, MPI_Comm comm) {
    std::vector<float> gradient(large, 1);
    GC_Request request = GC_REQUEST_NULL;
    GC_Allreduce_init(MPI_IN_PLACE, gradient.data(), large, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL,
                      &request);
    for (int i = 0; i < starts; ++i) {
        GC_Start(&request);
        GC_Wait(&request);
    }
    GC_Request_free(&request);
}

void blocks(int rank_count, MPI_Comm comm) {
    const int block = large / rank_count;
    std::vector<float> whole(static_cast<std::size_t>(block) * static_cast<std::size_t>(rank_count),
                             1);
    std::vector<float> mine(static_cast<std::size_t>(block), 1);
    for (int i = 0; i < 3; ++i)
        GC_Reduce_scatter_block(whole.data(), mine.data(), block, MPI_FLOAT, MPI_SUM, comm);
    for (int i = 0; i < 2; ++i)
        GC_Allgather(mine.data(), block, MPI_FLOAT, whole.data(), block, MPI_FLOAT, comm);
}

/// Submits four gradients, each three times.
void submit(MPI_Comm comm) {
    GC_Engine engine = GC_ENGINE_NULL;
    GC_Engine_create(comm, MPI_INFO_NULL, &engine);
    std::vector<std::vector<float>> gradients(4, std::vector<float>(large, 1));
    GC_Handle handles[4];
    for (int step = 0; step < 3; ++step) {
        for (std::size_t i = 0; i < gradients.size(); ++i)
            GC_Submit(engine, std::string("layer.").append(std::to_string(i)).c_str(), MPI_IN_PLACE,
                      gradients[i].data(), large, MPI_FLOAT, MPI_SUM, 0, &handles[i]);
        GC_Handle_waitall(4, handles);
    }
    GC_Engine_free(&engine);
}

/// Makes forty communicators of one name, with one small call each.
void many_communicators() {
    for (int i = 0; i < 40; ++i) {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_name(comm, "passing");
        allreduce(1, 2, MPI_SUM, comm);
        MPI_Comm_free(&comm);
    }
}

}  // namespace

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int rank_count = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    MPI_Op user_op = MPI_OP_NULL;
    MPI_Op_create(add_up, 1, &user_op);

    allreduce(5, 2, MPI_SUM, MPI_COMM_WORLD);
    allreduce(4, large, MPI_SUM, MPI_COMM_WORLD);
    allreduce(2, large, user_op, MPI_COMM_WORLD);
    if (argc > 1 && std::strcmp(argv[1], "report-now") == 0) {
        static GC_Gate gate = {};  // it keeps it
        const GC_Interposer_table* table = GC_Interposer_connect(GC_INTERPOSER_VERSION, &gate);
        if (table == nullptr) {
            std::fprintf(stderr, "observed_program: the core does not connect\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        table->pcontrol(2);
    }
    iallreduce(3, MPI_COMM_WORLD);
    persistent(6, MPI_COMM_WORLD);
    blocks(rank_count, MPI_COMM_WORLD);
    submit(MPI_COMM_WORLD);
    many_communicators();

    MPI_Op_free(&user_op);
    MPI_Finalize();
    return 0;
}
