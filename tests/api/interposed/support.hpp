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
        const GC_Reduce_call call{in, out, count, bits_of(type), bits_of(op), bits_of(comm)};
        GC_Passed_call passed{};
        return asked([&](int* code) { return table_->allreduce(&call, &passed, code); });
    }
    Answer iallreduce(const void* in, void* out, std::int64_t count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm, MPI_Request* request) const {
        const GC_Reduce_call call{in, out, count, bits_of(type), bits_of(op), bits_of(comm)};
        GC_Passed_call passed{};
        return asked([&](int* code) { return table_->iallreduce(&call, &passed, request, code); });
    }
    Answer reduce_scatter_block(const void* in, void* out, std::int64_t count, MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm) const {
        const GC_Reduce_call call{in, out, count, bits_of(type), bits_of(op), bits_of(comm)};
        return asked([&](int* code) { return table_->reduce_scatter_block(&call, code); });
    }
    template <class Count>
    Answer reduce_scatter(const void* in, void* out, const Count* counts, MPI_Datatype type,
                          MPI_Op op, MPI_Comm comm) const {
        const GC_Reduce_call call{in, out, 0, bits_of(type), bits_of(op), bits_of(comm)};
        return asked(
            [&](int* code) { return table_->reduce_scatter(&call, counts, sizeof(Count), code); });
    }
    Answer allgather(const void* in, std::int64_t send_count, MPI_Datatype send_type, void* out,
                     std::int64_t recv_count, MPI_Datatype recv_type, MPI_Comm comm) const {
        const GC_Gather_call call{in,         send_count,         bits_of(send_type), out,
                                  recv_count, bits_of(recv_type), bits_of(comm)};
        return asked([&](int* code) { return table_->allgather(&call, code); });
    }

    Answer barrier(MPI_Comm comm) const {
        return asked([&](int* code) { return table_->barrier(bits_of(comm), code); });
    }
    Answer bcast(void* data, std::int64_t count, MPI_Datatype type, int root, MPI_Comm comm) const {
        const GC_Bcast_call call{data, count, bits_of(type), root, bits_of(comm)};
        return asked([&](int* code) { return table_->bcast(&call, code); });
    }
    Answer reduce(const void* in, void* out, std::int64_t count, MPI_Datatype type, MPI_Op op,
                  int root, MPI_Comm comm) const {
        const GC_Reduce_call call{in, out, count, bits_of(type), bits_of(op), bits_of(comm)};
        return asked([&](int* code) { return table_->reduce(&call, root, code); });
    }

  private:
    template <class Ask>
    static Answer asked(Ask&& ask) {
        Answer answer;
        answer.served = ask(&answer.code) != 0;
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
