// tests/api/interposed/support.hpp - the interposer's table with MPI's own types.
#pragma once

#include "api/api_support.hpp"
#include "base/interposer_handle.hpp"
#include "base/interposer_table.h"

namespace gradcoll::test {

/// This many floats are longer than GC_TREE_MIN_BYTES.
inline constexpr int long_count = 100'000;

struct Answer {
    bool served = false;
    int code = -1;  ///< what a served call returned
};

class Table {
  public:
    Table(const GC_Interposer_table* table, const GC_Gate* gate) : table_(table), gate_(gate) {}

    const GC_Interposer_table* operator->() const { return table_; }
    std::int64_t least(GC_Call_kind kind) const { return gate_->least_count[kind]; }

    Answer allreduce(const void* in, void* out, std::int64_t count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm) const {
        GC_Passed_call passed{};
        GC_Call call = vector_call(in, out, count, type, op, comm);
        call.passed = &passed;
        return asked(GC_CALL_ALLREDUCE, call);
    }
    Answer iallreduce(const void* in, void* out, std::int64_t count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm, MPI_Request* request) const {
        GC_Passed_call passed{};
        GC_Call call = vector_call(in, out, count, type, op, comm);
        call.passed = &passed;
        call.request = request;
        return asked(GC_CALL_IALLREDUCE, call);
    }
    Answer allreduce_init(const void* in, void* out, std::int64_t count, MPI_Datatype type,
                          MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) const {
        GC_Call call = vector_call(in, out, count, type, op, comm);
        call.info = bits_of(info);
        call.request = request;
        return asked(GC_CALL_ALLREDUCE_INIT, call);
    }
    Answer reduce_scatter_block(const void* in, void* out, std::int64_t count, MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm) const {
        return asked(GC_CALL_REDUCE_SCATTER_BLOCK, vector_call(in, out, count, type, op, comm));
    }
    template <class Count>
    Answer reduce_scatter(const void* in, void* out, const Count* counts, MPI_Datatype type,
                          MPI_Op op, MPI_Comm comm) const {
        GC_Call call = vector_call(in, out, 0, type, op, comm);
        call.recvcounts = counts;
        call.count_bytes = sizeof(Count);
        return asked(GC_CALL_REDUCE_SCATTER, call);
    }
    Answer allgather(const void* in, std::int64_t send_count, MPI_Datatype send_type, void* out,
                     std::int64_t recv_count, MPI_Datatype recv_type, MPI_Comm comm) const {
        GC_Call call = vector_call(in, out, recv_count, recv_type, MPI_OP_NULL, comm);
        call.sendcount = send_count;
        call.sendtype = bits_of(send_type);
        return asked(GC_CALL_ALLGATHER, call);
    }

    Answer barrier(MPI_Comm comm) const {
        return asked(GC_CALL_BARRIER,
                     vector_call(nullptr, nullptr, 1, MPI_DATATYPE_NULL, MPI_OP_NULL, comm));
    }
    Answer bcast(void* data, std::int64_t count, MPI_Datatype type, int root, MPI_Comm comm) const {
        GC_Call call = vector_call(nullptr, data, count, type, MPI_OP_NULL, comm);
        call.root = root;
        return asked(GC_CALL_BCAST, call);
    }
    Answer reduce(const void* in, void* out, std::int64_t count, MPI_Datatype type, MPI_Op op,
                  int root, MPI_Comm comm) const {
        GC_Call call = vector_call(in, out, count, type, op, comm);
        call.root = root;
        return asked(GC_CALL_REDUCE, call);
    }

  private:
    static GC_Call vector_call(const void* in, void* out, std::int64_t count, MPI_Datatype type,
                               MPI_Op op, MPI_Comm comm) {
        GC_Call call{};
        call.sendbuf = in;
        call.recvbuf = out;
        call.count = count;
        call.datatype = bits_of(type);
        call.op = bits_of(op);
        call.comm = bits_of(comm);
        return call;
    }
    Answer asked(GC_Call_kind kind, const GC_Call& call) const {
        Answer answer;
        answer.served = table_->offer[kind](&call, &answer.code) != 0;
        return answer;
    }

    const GC_Interposer_table* table_;
    const GC_Gate* gate_;
};

/// Returns the table; connects once, as the interposer does it.
inline const Table& connected() {
    static GC_Gate gate = {};
    static const Table table(GC_Interposer_connect(GC_INTERPOSER_VERSION, &gate), &gate);
    return table;
}

}  // namespace gradcoll::test
