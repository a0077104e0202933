#include "ways/hosts/several_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/round.hpp"
#include "comm/agreement.hpp"
#include "comm/comm_devices.hpp"
#include "comm/started_calls.hpp"
#include "observe/observe.hpp"
#include "topology/derived_trees.hpp"
#include "transport/shm/shm_channel.hpp"

namespace gradcoll {
namespace {

/// Returns the size of a piece. It is worth a plan of its own, and pieces are so many that the
/// first way up and the last way down, in which nothing is on the wire, take little.
std::size_t piece_bytes_of(std::size_t vector_bytes) {
    constexpr std::size_t least = 1 << 20;
    constexpr std::size_t most = 4 << 20;
    return std::clamp(rounded_up(vector_bytes / 8, std::size_t{64} << 10), least, most);
}

/// Returns whether a leader can tell others by a failure_mark() that its host has failed: two marks
/// must not cancel.
bool can_be_marked(ReduceOp op) {
    return op != ReduceOp::lxor && op != ReduceOp::bxor;
}

/// Returns what the element behind the vector is in a sum of leaders, 0 or 1: with `failed` the
/// other one, which the op lets through whatever the others have.
int failure_mark(ReduceOp op, bool failed) {
    const bool keeps_one =
        op == ReduceOp::prod || op == ReduceOp::min || op == ReduceOp::land || op == ReduceOp::band;
    return keeps_one != failed ? 1 : 0;
}

/// Returns the bits of the number 1.
std::uint64_t bits_of_one(ElementType type) {
    switch (type) {
        case ElementType::f16:
            return 0x3c00;
        case ElementType::bf16:
            return 0x3f80;
        case ElementType::f32:
            return 0x3f80'0000;
        case ElementType::f64:
            return 0x3ff0'0000'0000'0000;
        default:
            return 1;
    }
}

void write_mark(const CallShape& shape, int mark, std::byte* at) {
    const std::uint64_t bits = mark != 0 ? bits_of_one(shape.type) : 0;
    for (std::size_t i = 0; i < shape.item_bytes(); i += shape.elem_bytes)
        std::memcpy(at + i, &bits, shape.elem_bytes);
}

}  // namespace

Result<BetweenHosts> BetweenHosts::make(const DiscoveredTree& tree, const Settings& settings,
                                        const std::vector<int>& leader_of) {
    auto of_leaders = tree_of_leaders(tree.tree, leader_of);
    if (!of_leaders) return of_leaders.status();
    BetweenHosts between{{}, settings, false};
    if (settings.schedule.empty()) {
        const auto codecs =
            settings.codecs().between_leaders(tree.tree, *of_leaders, leaders_in(leader_of));
        between.has_lossy = codecs.has_value();
        between.settings.level_codecs = codecs.value_or(HopCodecs{CodecId::exact});
    } else {
        between.has_lossy = true;  // a phase has one codec for all exchanges
    }
    between.tree = std::make_shared<const DiscoveredTree>(
        DiscoveredTree{std::move(of_leaders).value(), tree.origin, {}});
    return between;
}

bool allows_memory_inside_hosts(const Settings& settings) {
    return settings.inside_hosts == InsideHosts::memory && settings.shm_bytes > 0 &&
           settings.transports.allows(shm_transport_name) && !settings.chooses_plan();
}

bool may_use_memory_of_hosts(const CommIdentity& comm, const Settings& settings) {
    return !comm.is_one_host() && comm.most_ranks_on_host() > 1 &&
           allows_memory_inside_hosts(settings);
}

bool fits_memory_of_hosts(const CommIdentity& comm, const Settings& settings,
                          const CallShape& shape) {
    return !shape.by_mpi() && shape.count > 0 &&
           shape.elem_bytes <= one_host_element_bytes(comm.most_ranks_on_host(), settings);
}

/// A Vector is one call, with what its pieces have in common.
struct SeveralHosts::Vector {
    const CallArguments& arguments;
    CallShape shape;
    CallKey key;
    Binding binding;
    bool over_tree = false;
    PieceMaker* maker = nullptr;

    std::size_t count() const { return static_cast<std::size_t>(shape.count); }
    /// Returns what a piece has of its own, as the leaders' sum needs it.
    HostsSum::Call piece(const Range& range) const {
        HostsSum::Call piece{.binding = binding, .shape = shape};
        const std::size_t offset = range.first * shape.elem_bytes;
        piece.binding.input = static_cast<const std::byte*>(binding.input) + offset;
        piece.binding.output = static_cast<std::byte*>(binding.output) + offset;
        piece.shape.count = static_cast<std::int64_t>(range.count);
        if (maker != nullptr) piece.given = maker->result(range.first, range.count);
        return piece;
    }
};

SeveralHosts::SeveralHosts(const WayParts& parts)
    : comm_(parts.comm), settings_(parts.settings), statistics_(parts.statistics) {}

void SeveralHosts::settings_changed(const std::shared_ptr<const DiscoveredTree>& tree) {
    lane_.memory.reset();
    plans_.reset();
    is_open_ = false;
    may_open_ = may_use_memory_of_hosts(comm_, settings_.current());
    know_tree(tree);
}

void SeveralHosts::know_tree(const std::shared_ptr<const DiscoveredTree>& tree) {
    tree_ = tree;
    plan_between();
}

bool SeveralHosts::open() {
    if (is_open_ || !may_open_) return is_open_;
    return open(groups_ ? Result<HostGroups>(std::move(*groups_)) : HostGroups::make(comm_));
}

bool SeveralHosts::open(Result<HostGroups> groups) {
    Status status = groups.status();
    if (status.ok() && device_in_use() != nullptr)
        status = {Code::unsupported, "ranks use devices, which messages reach by themselves"};
    if (status.ok()) {
        groups_.emplace(std::move(groups).value());
        const CommIdentity& local = groups_->local;
        if (local.rank_count() > 1)
            status = take(
                lane_.memory,
                host_memory_for(local, one_host_choices(local.rank_count(), settings_.current())));
    }
    status = agreed(comm_.private_comm(), status);
    is_open_ = may_open_ = status.ok();
    if (!is_open_) {
        lane_.memory.reset();
        log(comm_.rank() == 0 ? LogLevel::info : LogLevel::debug,
            "ranks of communicator '{}' use messages inside hosts, too: {}", comm_.name(),
            status.message());
        return false;
    }
    const std::vector<int> leaders = leaders_in(groups_->leader_of);
    const int mine = groups_->leader_of[static_cast<std::size_t>(comm_.rank())];
    leaf_ =
        static_cast<int>(std::lower_bound(leaders.begin(), leaders.end(), mine) - leaders.begin());
    plan_between();
    return true;
}

/// Makes between_ anew. Existing plans refer to the old one, which is kept until they are made
/// anew.
void SeveralHosts::plan_between() {
    const auto before = std::move(between_);
    if (is_open_ && tree_ != nullptr) {
        auto between = BetweenHosts::make(*tree_, settings_.current(), groups_->leader_of);
        if (between)
            between_ = std::make_unique<BetweenHosts>(std::move(between).value());
        else
            log(LogLevel::debug, "{}", between.status().message());
    }
    if (between_ == nullptr)
        plans_.reset();
    else if (plans_ != nullptr)
        plans_->plan_for(between_->tree, between_->settings);
}

WayOffer SeveralHosts::offers(const WayQuestion& question) {
    return question.kind == CallKind::allreduce && open() ? takes(question.shape) : WayOffer();
}

WayOffer SeveralHosts::takes(const CallShape& shape) const {
    if (!is_open_ || !fits_memory_of_hosts(comm_, settings_.current(), shape)) return {};
    const bool is_short =
        shape.size_bytes() < settings_.current().tree_min_bytes && can_be_marked(shape.op);
    return {is_short || takes_long(), takes_long() && between_->has_lossy};
}

Status SeveralHosts::run(const WayCall& call) {
    const bool is_long = call.shape.size_bytes() >= settings_.current().tree_min_bytes;
    Vector vector{call.arguments, call.shape, call.key, binding_of(call.arguments, call.shape),
                  takes_long() && (call.key.compress || is_long)};
    vector.maker = call.maker;
    vector.binding.tolerance = call.tolerance;
    vector.binding.refusal = call.refusal;
    const std::uint64_t begin_ns = statistics_.is_observed() ? now_ns() : 0;
    CallRecord record;
    if (vector.maker != nullptr && !vector.over_tree) vector.maker->fill(0, vector.count());
    const Status mine = vector.over_tree ? run_over_tree(vector, record) : run_by_mpi(vector);
    if (vector.maker != nullptr && !vector.over_tree) vector.maker->round(0, vector.count());
    GRADCOLL_TRY(tell_outcome(mine, record.lossy));
    count(vector, record, begin_ns);
    return {};
}

/// Adds up the vectors of this host's ranks on its leader, in its `output`.
Status SeveralHosts::up(const Vector& vector, std::byte* output) {
    if (const Status* const refusal = vector.binding.refusal; refusal != nullptr) {
        if (!is_alone()) lane_.memory->refuse(HostMemory::up, vector.shape, refusal->code());
        return *refusal;
    }
    if (is_alone()) return {};
    Binding binding = vector.binding;
    binding.output = output;
    return lane_.memory->run(HostMemory::up, binding, vector.shape);
}

/// Gives what the leader has in `output` to the ranks of its host.
Status SeveralHosts::down(const Vector& vector, std::byte* output) {
    if (is_alone()) return {};
    Binding binding;
    binding.output = output;
    return lane_.memory->run(HostMemory::down, binding, vector.shape);
}

Status SeveralHosts::run_by_mpi(const Vector& vector) {
    auto* const output = static_cast<std::byte*>(vector.binding.output);
    if (is_leader()) return lead_by_mpi(vector, output);
    const Status status = up(vector, output);
    const Status spread = down(vector, output);
    return status.ok() ? spread : status;
}

/// Adds up what the leaders have. A host that failed has no sum, but must not keep the others
/// waiting in the MPI library, and they must not take what it has for one: so an element behind the
/// vector is summed with it, and says whether all have one.
Status SeveralHosts::lead_by_mpi(const Vector& vector, std::byte* output) {
    const CallShape& shape = vector.shape;
    const std::size_t size_bytes = shape.size_bytes();
    const std::size_t room_bytes = size_bytes + 2 * shape.item_bytes();
    if (marked_.size() < room_bytes) marked_.resize(room_bytes);
    std::byte* const sum = marked_.data();
    std::byte* const mark = sum + size_bytes;
    std::byte* const good = mark + shape.item_bytes();
    if (is_alone()) std::memcpy(sum, vector.binding.input, size_bytes);
    Status status = up(vector, sum);
    write_mark(shape, failure_mark(shape.op, !status.ok()), mark);
    write_mark(shape, failure_mark(shape.op, false), good);
    CallArguments between = vector.arguments;
    between.comm = groups_->leaders->private_comm();
    between.sendbuf = MPI_IN_PLACE;
    between.recvbuf = sum;
    ++between.count;
    const Status by_mpi = pass_allreduce(between).as_status("MPI_Allreduce");
    if (status.ok()) status = by_mpi;
    if (status.ok() && std::memcmp(mark, good, shape.item_bytes()) != 0)
        status = {Code::peer_failed, "a rank of another host cannot go on"};
    if (!status.ok()) status = judged(comm_.watch().get(), std::move(status));
    const Status spread = down(vector, sum);
    std::memcpy(output, sum, size_bytes);
    return status.ok() ? spread : status;
}

/// Lets the leaders' messages for pieces that are between hosts go on.
bool SeveralHosts::advance_messages() {
    bool advanced = false;
    for (Piece& piece : pieces_) {
        if (!piece.sum.is_between()) continue;
        const auto progress = piece.sum.advance();
        advanced |= !progress.ok() || *progress != Progress::idle;
    }
    return advanced;
}

/// Waits until the piece is there, while all other pieces go on, and what is started.
template <class IsThere>
void SeveralHosts::drive(Piece& piece, IsThere&& is_there) {
    constexpr int idle_turns_before_yield = 200;
    int idle_start = comm_.yields() ? idle_turns_before_yield : 0;
    int idle_turns = idle_start;
    while (!is_there()) {
        if (piece.sum.in_memory()) {
            const auto progress = piece.sum.advance();
            if (progress.ok() && *progress == Progress::idle) lane_.memory->rest();
        } else if (advance_messages() || advance_started_calls()) {
            idle_turns = idle_start;
        } else if (++idle_turns > idle_turns_before_yield && piece.lease.executor->rest()) {
            // Messages for the other pieces wake it, too. Who has slept waits for long ones.
            idle_start = idle_turns_before_yield;
        }
    }
}

/// Begins the sum of a piece, and waits until it is on its way between hosts. The other hosts are
/// told of an error before.
void SeveralHosts::begin(Piece& piece, const Vector& vector, const Range& range, Status so_far) {
    piece.range = range;
    if (vector.maker != nullptr) vector.maker->fill(range.first, range.count);
    HostsSum::Call call = vector.piece(range);
    if (plans_ != nullptr) {
        CallKey key = vector.key;
        key.count = call.shape.count;
        key.in_place = call.binding.input == call.binding.output || !is_alone() || !so_far.ok() ||
                       call.binding.refusal != nullptr;
        const Status leased = take(piece.lease, plans_->begin(CallKind::allreduce, key, {}));
        if (so_far.ok()) so_far = leased;
        call.between = piece.lease.executor.get();
        call.binding.numbers = &plans_->numbers();
    }
    call.lanes = {&lane_, &lane_, is_leader()};
    call.so_far = std::move(so_far);
    piece.sum.start(call);
    drive(piece, [&] { return !piece.sum.goes_up(); });
}

/// Waits until the ranks of this host have the sum of the piece. If the vector is made by somebody,
/// the leader rounds its sums, and they get the result.
Status SeveralHosts::finish(Piece& piece, const Vector& vector, CallRecord& record) {
    const std::uint64_t begin_ns = is_leader() && observing_calls() ? now_ns() : 0;
    drive(piece, [&] { return !piece.sum.is_between(); });
    if (begin_ns != 0) record.wire_ns += now_ns() - begin_ns;
    if (vector.maker != nullptr && is_leader())
        vector.maker->round(piece.range.first, piece.range.count);
    piece.sum.come_down();
    drive(piece, [&] { return piece.sum.is_over(); });
    end(piece, record);
    return piece.sum.outcome();
}

/// Gives the piece's lease back, and adds up what its messages have done.
void SeveralHosts::end(Piece& piece, CallRecord& record) {
    if (piece.lease.executor == nullptr) return;
    Lease lease = std::exchange(piece.lease, {});
    add_messages(lease.before, lease.executor->stats(), record);
    record.bytes_sent_exact += lease.call->exact_bytes();
    record.lossy = lease.call->lossy();
    if (const LinkUse* use = lease.call->link_use())
        observe_link_use(groups_->leaders->private_comm(), *use);
    plans_->end(std::move(lease), piece.sum.outcome());
}

/// All ranks of a host go up and down in the same order: a piece goes up as soon as one that went
/// before has come down. Whatever fails, the others are not kept waiting.
Status SeveralHosts::run_over_tree(const Vector& vector, CallRecord& record) {
    Status status;
    const auto note = [&](const Status& step) {
        if (status.ok()) status = step;
    };
    if (is_leader() && plans_ == nullptr) note(open_between());
    if (!is_alone())
        lane_.memory->go_on_beside(
            [](void* way) { return static_cast<SeveralHosts*>(way)->advance_messages(); }, this);
    const std::size_t most = piece_bytes_of(vector.shape.size_bytes()) / vector.shape.elem_bytes;
    const std::size_t pieces = divided_up(vector.count(), most);
    for (std::size_t i = 0; i < pieces + pieces_under_way; ++i) {
        Piece& piece = pieces_[i % pieces_under_way];
        if (i >= pieces_under_way && i - pieces_under_way < pieces)
            note(finish(piece, vector, record));
        if (i >= pieces) continue;
        begin(piece, vector, {i * most, std::min(most, vector.count() - i * most)}, status);
        note(piece.sum.outcome());
    }
    if (!is_alone()) lane_.memory->go_on_beside(nullptr, nullptr);
    return status;
}

Status SeveralHosts::open_between() {
    auto plans = std::make_unique<CommPlans>(*groups_->leaders, nullptr);
    GRADCOLL_TRY(plans->open_channel(between_->settings));
    plans->plan_for(between_->tree, between_->settings);
    observe_as(groups_->leaders->private_comm(), comm_.private_comm());
    plans_ = std::move(plans);
    return {};
}

/// Tells the ranks of this host what only the leader knows. An error of this rank itself goes
/// first, unless it only says that another rank has one.
Status SeveralHosts::tell_outcome(const Status& mine, bool& lossy) {
    if (is_alone()) return mine;
    struct Told {
        std::int32_t code;
        std::int32_t lossy;
    } told{static_cast<std::int32_t>(mine.code()), lossy ? 1 : 0};
    Binding binding;
    binding.output = &told;
    const Status heard = lane_.memory->run(HostMemory::down, binding, shape_of_bytes(sizeof told));
    const bool is_told = !is_leader() && (mine.ok() || mine.code() == Code::peer_failed);
    if (!heard.ok() || !is_told) return mine.ok() ? heard : mine;
    lossy = told.lossy != 0;
    const auto code = static_cast<Code>(told.code);
    const bool is_mine = code == Code::ok || code == mine.code();
    return judged(
        comm_.watch().get(),
        is_mine ? mine : Status(code, "the rank that talks to other hosts for this one failed"));
}

void SeveralHosts::count(const Vector& vector, CallRecord& record, std::uint64_t begin_ns) {
    record.bytes = vector.shape.size_bytes();
    record.shared_memory = !vector.over_tree;
    const std::uint64_t in_memory = is_alone() ? 0 : record.bytes;
    record.bytes_sent += in_memory;
    record.bytes_sent_exact += in_memory;
    if (begin_ns != 0) record.total_ns = now_ns() - begin_ns;
    statistics_.count_served(record);
}

const WayInfo& hosts_way() {
    static constexpr WayInfo info{
        .name = "hosts",
        .says = "goes through the memory of each host, and from one rank a host to another",
        .over_tree = false,
        .is_timed = true,
        .make = [](const WayParts& parts) -> std::unique_ptr<Way> {
            return std::make_unique<SeveralHosts>(parts);
        }};
    return info;
}

}  // namespace gradcoll
