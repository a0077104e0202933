// peers/ucc.cpp - UCC (Unified Collective Communication): one context and one team over
// MPI_COMM_WORLD, brought together by MPI_Iallgather as UCC asks of its user.
#include <mpi.h>
#include <sched.h>
#include <ucc/api/ucc.h>

#include <fmt/format.h>

#include <array>

#include "peers/peer.hpp"

namespace gradcoll::bench {
namespace {

void require(ucc_status_t status, const char* call) {
    if (status < 0) {
        end_job(fmt::format("--peer ucc: {}: {}", call, ucc_status_string(status)));
    }
}

// Starts UCC's out-of-band allgather.
ucc_status_t start_allgather(void* send, void* recv, std::size_t bytes, void* /*info*/,
                             void** request) {
    auto* started = new MPI_Request;
    MPI_Iallgather(send, static_cast<int>(bytes), MPI_BYTE, recv, static_cast<int>(bytes), MPI_BYTE,
                   MPI_COMM_WORLD, started);
    *request = started;
    return UCC_OK;
}
ucc_status_t test_allgather(void* request) {
    int done = 0;
    MPI_Test(static_cast<MPI_Request*>(request), &done, MPI_STATUS_IGNORE);
    return done != 0 ? UCC_OK : UCC_INPROGRESS;
}
ucc_status_t free_allgather(void* request) {
    delete static_cast<MPI_Request*>(request);
    return UCC_OK;
}

ucc_oob_coll_t world() {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ucc_oob_coll_t oob{};
    oob.allgather = start_allgather;
    oob.req_test = test_allgather;
    oob.req_free = free_allgather;
    oob.n_oob_eps = static_cast<std::uint32_t>(ranks);
    oob.oob_ep = static_cast<std::uint32_t>(rank);
    return oob;
}

template <class Value>
struct Named {
    std::string_view name;
    Value value;
};
using NamedType = Named<ucc_datatype_t>;
using NamedOp = Named<ucc_reduction_op_t>;

const std::array types = {NamedType{"float", UCC_DT_FLOAT32}, NamedType{"double", UCC_DT_FLOAT64},
                          NamedType{"half", UCC_DT_FLOAT16}, NamedType{"bf16", UCC_DT_BFLOAT16},
                          NamedType{"int32", UCC_DT_INT32}};
constexpr std::array ops = {NamedOp{"sum", UCC_OP_SUM}, NamedOp{"prod", UCC_OP_PROD},
                            NamedOp{"min", UCC_OP_MIN}, NamedOp{"max", UCC_OP_MAX}};

auto value_of(const auto& table, std::string_view name) {
    for (const auto& entry : table) {
        if (entry.name == name) {
            return entry.value;
        }
    }
    end_job(fmt::format("--peer ucc: it knows no {}", name));
}

class UccPeer : public Peer {
  public:
    explicit UccPeer(const PeerWorkload& workload)
        : type_(value_of(types, workload.element->name)), op_(value_of(ops, workload.op)) {
        open_library();
        open_context();
        open_team();
    }
    ~UccPeer() override {
        while (ucc_team_destroy(team_) == UCC_INPROGRESS) {
            ucc_context_progress(context_);
        }
        ucc_context_destroy(context_);
        ucc_finalize(library_);
    }

    void allreduce(const void* send, void* recv, std::size_t count) override;
    std::string description() const override {
        return fmt::format("ucc_collective_post of UCC {}", ucc_get_version_string());
    }

  private:
    void open_library();
    void open_context();
    void open_team();

    ucc_datatype_t type_;
    ucc_reduction_op_t op_;
    ucc_lib_h library_ = nullptr;
    ucc_context_h context_ = nullptr;
    ucc_team_h team_ = nullptr;
};

void UccPeer::open_library() {
    ucc_lib_config_h config = nullptr;
    require(ucc_lib_config_read(nullptr, nullptr, &config), "ucc_lib_config_read");
    ucc_lib_params_t params{};
    params.mask = UCC_LIB_PARAM_FIELD_THREAD_MODE | UCC_LIB_PARAM_FIELD_COLL_TYPES;
    params.thread_mode = UCC_THREAD_SINGLE;
    params.coll_types = UCC_COLL_TYPE_ALLREDUCE;
    require(ucc_init(&params, config, &library_), "ucc_init");
    ucc_lib_config_release(config);
}

void UccPeer::open_context() {
    ucc_context_config_h config = nullptr;
    require(ucc_context_config_read(library_, nullptr, &config), "ucc_context_config_read");
    ucc_context_params_t params{};
    params.mask = UCC_CONTEXT_PARAM_FIELD_TYPE | UCC_CONTEXT_PARAM_FIELD_OOB;
    params.type = UCC_CONTEXT_SHARED;
    params.oob = world();
    require(ucc_context_create(library_, &params, config, &context_), "ucc_context_create");
    ucc_context_config_release(config);
}

void UccPeer::open_team() {
    ucc_team_params_t params{};
    params.mask =
        UCC_TEAM_PARAM_FIELD_EP | UCC_TEAM_PARAM_FIELD_EP_RANGE | UCC_TEAM_PARAM_FIELD_OOB;
    params.oob = world();
    params.ep = params.oob.oob_ep;
    params.ep_range = UCC_COLLECTIVE_EP_RANGE_CONTIG;
    require(ucc_team_create_post(&context_, 1, &params, &team_), "ucc_team_create_post");
    ucc_status_t status = UCC_INPROGRESS;
    while (status == UCC_INPROGRESS) {
        ucc_context_progress(context_);
        status = ucc_team_create_test(team_);
    }
    require(status, "ucc_team_create_test");
}

void UccPeer::allreduce(const void* send, void* recv, std::size_t count) {
    ucc_coll_args_t args{};
    args.coll_type = UCC_COLL_TYPE_ALLREDUCE;
    args.op = op_;
    args.dst.info = {recv, count, type_, UCC_MEMORY_TYPE_HOST};
    args.src.info = {const_cast<void*>(send), count, type_, UCC_MEMORY_TYPE_HOST};
    if (send == MPI_IN_PLACE) {
        args.mask = UCC_COLL_ARGS_FIELD_FLAGS;
        args.flags = UCC_COLL_ARGS_FLAG_IN_PLACE;
        args.src.info.buffer = recv;
    }
    ucc_coll_req_h request = nullptr;
    require(ucc_collective_init(&args, &request, team_), "ucc_collective_init");
    require(ucc_collective_post(request), "ucc_collective_post");
    ucc_status_t status = ucc_collective_test(request);
    while (status == UCC_INPROGRESS) {
        ucc_context_progress(context_);
        status = ucc_collective_test(request);
        // This yields as scripts/mpirun makes MPI do: ranks may outnumber cores.
        if (status == UCC_INPROGRESS) {
            sched_yield();
        }
    }
    require(status, "ucc_collective_test");
    require(ucc_collective_finalize(request), "ucc_collective_finalize");
}

std::optional<std::string> ucc_refusal(const PeerWorkload& /*workload*/) {
    return std::nullopt;
}

std::unique_ptr<Peer> make_ucc(const PeerWorkload& workload) {
    return std::make_unique<UccPeer>(workload);
}

}  // namespace

PeerKind ucc_peer() {
    return {"ucc", ucc_refusal, make_ucc};
}

}  // namespace gradcoll::bench
