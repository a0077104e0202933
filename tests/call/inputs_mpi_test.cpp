// One table of good and bad arguments through every entry point: bad ones are refused with their
// class, or left to the MPI library; all others give what MPI gives, value by value.
#include <functional>
#include <limits>
#include <memory>

#include "api/interposed/support.hpp"

namespace gradcoll::test {
namespace {

/// Input holds the arguments of a call: those of a vector for an allreduce, and of a block for the
/// block collectives.
struct Input {
    const void* send = nullptr;
    void* recv = nullptr;
    MPI_Count count = 0;
    MPI_Datatype type = MPI_FLOAT;
    MPI_Op op = MPI_SUM;
    MPI_Comm comm = MPI_COMM_NULL;

    int short_count() const { return static_cast<int>(count); }
};

constexpr int count = 24;

void add_floats(void* in, void* inout, int* n, MPI_Datatype*) {
    for (int i = 0; i < *n; ++i) static_cast<float*>(inout)[i] += static_cast<const float*>(in)[i];
}

/// Parts are what inputs are made of: communicators, buffers for a block a rank and some more, a
/// derived type, an op of the program.
class Parts {
  public:
    explicit Parts(MPI_Comm on) : comm(on) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        MPI_Type_contiguous(2, MPI_FLOAT, &pair);
        MPI_Type_commit(&pair);
        MPI_Op_create(add_floats, 1, &own_op);
        GC_Residual_create(comm, count, MPI_FLOAT, &residual);
        if (size_of(comm) > 1) make_intercommunicator();
    }
    ~Parts() {
        if (inter != MPI_COMM_NULL) MPI_Comm_free(&inter);
        GC_Residual_free(&residual);
        MPI_Op_free(&own_op);
        MPI_Type_free(&pair);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    void fill() {
        for (std::size_t i = 0; i < in.size(); ++i) {
            in[i] = static_cast<float>(static_cast<int>(i % 7) + rank_of(comm));
            out[i] = static_cast<float>(static_cast<int>(i % 5) - rank_of(comm));
        }
    }
    Input good() { return {in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, comm}; }

    MPI_Comm comm;
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Op own_op = MPI_OP_NULL;
    GC_Residual residual = GC_RESIDUAL_NULL;
    std::vector<float> in = std::vector<float>(16 * count);
    std::vector<float> out = std::vector<float>(16 * count);

  private:
    void make_intercommunicator() {
        const int side = rank_of(comm) == 0 ? 0 : 1;
        MPI_Comm half = MPI_COMM_NULL;
        MPI_Comm_split(comm, side, 0, &half);
        MPI_Intercomm_create(half, 0, comm, side == 0 ? 1 : 0, 7, &inter);
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        MPI_Comm_free(&half);
    }
};

// ---- the entry points

enum class Kind { reduce, with_residual, scatter, gather };

/// Makes MPI's own call.
int plain_call(Kind kind, const Input& i) {
    switch (kind) {
        case Kind::scatter:
            return PMPI_Reduce_scatter_block(i.send, i.recv, i.short_count(), i.type, i.op, i.comm);
        case Kind::gather:
            return PMPI_Allgather(i.send, i.short_count(), i.type, i.recv, i.short_count(), i.type,
                                  i.comm);
        default:
            return PMPI_Allreduce(i.send, i.recv, i.short_count(), i.type, i.op, i.comm);
    }
}

struct EntryPoint {
    const char* name;
    Kind kind;
    bool takes_huge_counts;
    bool interposed;  ///< it refuses nothing: such calls are `left`
    std::function<int(const Input&, Parts&)> call;
};
/// An interposed entry returns this for a call that it leaves to the MPI library.
constexpr int left = -1;

int waited(int code, MPI_Request& request) {
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

int started_and_freed(const Input& i) {
    GC_Request request = GC_REQUEST_NULL;
    int code =
        GC_Allreduce_init(i.send, i.recv, i.count, i.type, i.op, i.comm, MPI_INFO_NULL, &request);
    if (code != MPI_SUCCESS) return code;
    code = GC_Start(&request);
    if (code == MPI_SUCCESS) code = GC_Wait(&request);
    GC_Request_free(&request);
    return code;
}

int code_of(const Answer& answer) {
    return answer.served ? answer.code : left;
}

int nonblocking_offer(const Input& i) {
    MPI_Request request = MPI_REQUEST_NULL;
    const Answer answer =
        connected().iallreduce(i.send, i.recv, i.count, i.type, i.op, i.comm, &request);
    return answer.served ? waited(answer.code, request) : left;
}

int offer_with_counts(const Input& i) {
    const int ranks = i.comm == MPI_COMM_NULL ? 1 : size_of(i.comm);
    const std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks), i.count);
    return code_of(connected().reduce_scatter(i.send, i.recv, counts.data(), i.type, i.op, i.comm));
}

const std::vector<EntryPoint>& entry_points() {
    static const std::vector<EntryPoint> all = {
        {"GC_Allreduce", Kind::reduce, false, false,
         [](const Input& i, Parts&) {
             return GC_Allreduce(i.send, i.recv, i.short_count(), i.type, i.op, i.comm);
         }},
        {"GC_Allreduce_c", Kind::reduce, true, false,
         [](const Input& i, Parts&) {
             return GC_Allreduce_c(i.send, i.recv, i.count, i.type, i.op, i.comm);
         }},
        {"GC_Iallreduce", Kind::reduce, false, false,
         [](const Input& i, Parts&) {
             MPI_Request request = MPI_REQUEST_NULL;
             return waited(
                 GC_Iallreduce(i.send, i.recv, i.short_count(), i.type, i.op, i.comm, &request),
                 request);
         }},
        {"GC_Iallreduce_c", Kind::reduce, true, false,
         [](const Input& i, Parts&) {
             MPI_Request request = MPI_REQUEST_NULL;
             return waited(GC_Iallreduce_c(i.send, i.recv, i.count, i.type, i.op, i.comm, &request),
                           request);
         }},
        {"GC_Allreduce_init", Kind::reduce, true, false,
         [](const Input& i, Parts&) { return started_and_freed(i); }},
        {"GC_Allreduce_residual", Kind::with_residual, true, false,
         [](const Input& i, Parts& parts) {
             return GC_Allreduce_residual(i.send, i.recv, i.count, i.type, i.op, i.comm,
                                          parts.residual);
         }},
        {"GC_Reduce_scatter_block", Kind::scatter, false, false,
         [](const Input& i, Parts&) {
             return GC_Reduce_scatter_block(i.send, i.recv, i.short_count(), i.type, i.op, i.comm);
         }},
        {"GC_Allgather", Kind::gather, false, false,
         [](const Input& i, Parts&) {
             return GC_Allgather(i.send, i.short_count(), i.type, i.recv, i.short_count(), i.type,
                                 i.comm);
         }},
        {"MPI_Allreduce", Kind::reduce, true, true,
         [](const Input& i, Parts&) {
             return code_of(connected().allreduce(i.send, i.recv, i.count, i.type, i.op, i.comm));
         }},
        {"MPI_Iallreduce", Kind::reduce, true, true,
         [](const Input& i, Parts&) { return nonblocking_offer(i); }},
        {"MPI_Reduce_scatter_block", Kind::scatter, true, true,
         [](const Input& i, Parts&) {
             return code_of(
                 connected().reduce_scatter_block(i.send, i.recv, i.count, i.type, i.op, i.comm));
         }},
        {"MPI_Reduce_scatter", Kind::scatter, true, true,
         [](const Input& i, Parts&) { return offer_with_counts(i); }},
        {"MPI_Allgather", Kind::gather, true, true,
         [](const Input& i, Parts&) {
             return code_of(
                 connected().allgather(i.send, i.count, i.type, i.recv, i.count, i.type, i.comm));
         }},
    };
    return all;
}

// ---- the table

constexpr int as_mpi = -2;   ///< the success or error class of MPI's call, and its result
constexpr int untried = -3;  ///< not tried with this kind of call

struct Row {
    const char* what;
    void (*change)(Input&, Parts&);
    int reduce, with_residual, scatter, gather;
    bool huge = false;
    bool overlaps = false;  ///< what becomes of it under the interposer is this rank's business

    int expected(Kind kind) const {
        const int by_kind[] = {reduce, with_residual, scatter, gather};
        return by_kind[static_cast<int>(kind)];
    }
};

const Row rows[] = {
    {"nothing wrong", [](Input&, Parts&) {}, as_mpi, as_mpi, as_mpi, as_mpi},
    {"null comm", [](Input& i, Parts&) { i.comm = MPI_COMM_NULL; }, MPI_ERR_COMM, MPI_ERR_COMM,
     MPI_ERR_COMM, MPI_ERR_COMM},
    {"null op", [](Input& i, Parts&) { i.op = MPI_OP_NULL; }, MPI_ERR_OP, MPI_ERR_OP, MPI_ERR_OP,
     untried},
    {"null datatype", [](Input& i, Parts&) { i.type = MPI_DATATYPE_NULL; }, MPI_ERR_TYPE,
     MPI_ERR_TYPE, MPI_ERR_TYPE, MPI_ERR_TYPE},
    {"negative count", [](Input& i, Parts&) { i.count = -3; }, MPI_ERR_COUNT, MPI_ERR_COUNT,
     MPI_ERR_COUNT, MPI_ERR_COUNT},
    {"huge count", [](Input& i, Parts&) { i.count = std::numeric_limits<MPI_Count>::max() / 2; },
     MPI_ERR_COUNT, MPI_ERR_COUNT, MPI_ERR_COUNT, MPI_ERR_COUNT, /*huge=*/true},
    {"null send buffer", [](Input& i, Parts&) { i.send = nullptr; }, MPI_ERR_BUFFER, MPI_ERR_BUFFER,
     MPI_ERR_BUFFER, MPI_ERR_BUFFER},
    {"null receive buffer", [](Input& i, Parts&) { i.recv = nullptr; }, MPI_ERR_BUFFER,
     MPI_ERR_BUFFER, MPI_ERR_BUFFER, MPI_ERR_BUFFER},
    {"receive in place", [](Input& i, Parts&) { i.recv = MPI_IN_PLACE; }, MPI_ERR_BUFFER,
     MPI_ERR_BUFFER, MPI_ERR_BUFFER, MPI_ERR_BUFFER},
    {"buffers that overlap",
     [](Input& i, Parts&) { i.send = static_cast<const float*>(i.recv) + 1; }, MPI_ERR_BUFFER,
     MPI_ERR_BUFFER, MPI_ERR_BUFFER, MPI_ERR_BUFFER, false, /*overlaps=*/true},
    {"one buffer", [](Input& i, Parts&) { i.send = i.recv; }, MPI_ERR_BUFFER, MPI_ERR_BUFFER,
     MPI_ERR_BUFFER, MPI_ERR_BUFFER, false, /*overlaps=*/true},
    {"derived type", [](Input& i, Parts& p) { i.type = p.pair; }, as_mpi, MPI_ERR_TYPE, as_mpi,
     as_mpi},
    {"op of the program", [](Input& i, Parts& p) { i.op = p.own_op; }, as_mpi, MPI_ERR_TYPE, as_mpi,
     untried},
    {"op that the type lacks", [](Input& i, Parts&) { i.op = MPI_BAND; }, as_mpi, MPI_ERR_TYPE,
     as_mpi, untried},
    {"max", [](Input& i, Parts&) { i.op = MPI_MAX; }, as_mpi, MPI_ERR_OP, as_mpi, untried},
    {"integers", [](Input& i, Parts&) { i.type = MPI_INT; }, as_mpi, MPI_ERR_TYPE, as_mpi, as_mpi},
    {"no elements", [](Input& i, Parts&) { i.count = 0; }, as_mpi, untried, as_mpi, as_mpi},
    {"in place", [](Input& i, Parts&) { i.send = MPI_IN_PLACE; }, as_mpi, as_mpi, as_mpi, as_mpi},
    {"a single rank", [](Input& i, Parts&) { i.comm = MPI_COMM_SELF; }, as_mpi, MPI_ERR_ARG, as_mpi,
     as_mpi},
    {"an intercommunicator",
     [](Input& i, Parts& p) {
         if (p.inter != MPI_COMM_NULL) i.comm = p.inter;
     },
     as_mpi, untried, untried, as_mpi},
};
void expect_what_mpi_gives(const EntryPoint& entry, const Row& row, Parts& parts) {
    parts.fill();
    Input input = parts.good();
    row.change(input, parts);
    const int wanted = class_of(plain_call(entry.kind, input));
    const std::vector<float> result = parts.out;
    parts.fill();
    const int got = class_of(entry.call(input, parts));
    if (entry.interposed && got == left) return;
    EXPECT_EQ(got, wanted);
    EXPECT_EQ(parts.out, result);
}

void expect_refusal(const EntryPoint& entry, const Row& row, Parts& parts, int error_class) {
    parts.fill();
    Input input = parts.good();
    row.change(input, parts);
    const std::vector<float> before = parts.out;
    const int got = class_of(entry.call(input, parts));
    if (entry.interposed && row.overlaps) return;
    // Some MPI libraries do not look at the buffers of these calls. If other ranks are told of the
    // error, the call is not left to the MPI library.
    const bool looks_at_none = entry.kind == Kind::scatter || entry.kind == Kind::gather ||
                               entry.name == std::string_view("MPI_Allreduce") ||
                               entry.name == std::string_view("MPI_Iallreduce");
    const bool may_tell = looks_at_none && error_class == MPI_ERR_BUFFER;
    if (!entry.interposed || (may_tell && got != left))
        EXPECT_EQ(got, error_class);
    else
        EXPECT_EQ(got, left);
    EXPECT_EQ(parts.out, before) << "a call that is refused must touch nothing";
}

void try_all(Parts& parts) {
    for (const Row& row : rows)
        for (const EntryPoint& entry : entry_points()) {
            const int expected = row.expected(entry.kind);
            if (expected == untried || (row.huge && !entry.takes_huge_counts)) continue;
            // One buffer is in place on one rank alone: MPI may refuse it there, and the others
            // wait.
            if (entry.interposed && row.overlaps && entry.kind == Kind::gather) continue;
            SCOPED_TRACE(std::string(entry.name) + ", " + row.what);
            if (expected == as_mpi)
                expect_what_mpi_gives(entry, row, parts);
            else
                expect_refusal(entry, row, parts, expected);
        }
}

TEST(Inputs, OfCallsOnATree) {
    const OwnComm comm{"flat"};
    Parts parts(comm);
    try_all(parts);
    if (comm.size() > 1) {
        EXPECT_GT(comm.stats().calls_tree, 0U);
    }
}

TEST(Inputs, OfShortCallsWithTheSettingsOfTheProcess) {
    const PlainComm comm;
    Parts parts(comm);
    try_all(parts);
}

TEST(Inputs, OfCallsThatAreCompared) {
    const OwnComm comm{"flat"};
    comm.set("gc_check", "collective");
    Parts parts(comm);
    try_all(parts);
}

}  // namespace
}  // namespace gradcoll::test
