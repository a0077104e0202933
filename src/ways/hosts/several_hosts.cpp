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
#include "observe/observe.hpp"
#include "topology/leaders.hpp"
#include "transport/shm/shm_channel.hpp"

namespace gradcoll {
namespace {

/// So many pieces of a long vector are on their way between hosts at once.
constexpr std::size_t pieces_under_way = 3;
static_assert(pieces_under_way <= LeadersExchange::most_under_way);

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

/// A MessagesBeside lets a leader's messages to other leaders go on, as long as it exists, while
/// the leader waits for the ranks of its host.
class MessagesBeside {
  public:
    MessagesBeside(HostMemory* engine, LeadersExchange* leaders)
        : engine_(leaders != nullptr ? engine : nullptr) {
        if (engine_ != nullptr) engine_->go_on_beside(advance, leaders);
    }
    ~MessagesBeside() {
        if (engine_ != nullptr) engine_->go_on_beside(nullptr, nullptr);
    }
    MessagesBeside(const MessagesBeside&) = delete;
    MessagesBeside& operator=(const MessagesBeside&) = delete;

  private:
    static bool advance(void* leaders) { return static_cast<LeadersExchange*>(leaders)->advance(); }

    HostMemory* engine_;
};

}  // namespace

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

    std::size_t count() const { return static_cast<std::size_t>(shape.count); }
    const std::byte* input(std::size_t first) const {
        return static_cast<const std::byte*>(binding.input) + first * shape.elem_bytes;
    }
    std::byte* output(std::size_t first) const {
        return static_cast<std::byte*>(binding.output) + first * shape.elem_bytes;
    }
    CallShape piece(std::size_t count) const {
        CallShape piece = shape;
        piece.count = static_cast<std::int64_t>(count);
        return piece;
    }
};

SeveralHosts::SeveralHosts(const WayParts& parts)
    : comm_(parts.comm), settings_(parts.settings), statistics_(parts.statistics) {}

void SeveralHosts::settings_changed(const std::shared_ptr<const DiscoveredTree>& tree) {
    engine_.reset();
    leaders_.reset();
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
            status = take(engine_, host_memory_for(local, one_host_choices(local.rank_count(),
                                                                           settings_.current())));
    }
    status = agreed(comm_.private_comm(), status);
    is_open_ = may_open_ = status.ok();
    if (!is_open_) {
        engine_.reset();
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
    if (!is_open_ || tree_ == nullptr) {
        leaders_.reset();
        between_.reset();
        return;
    }
    auto between = BetweenHosts::make(*tree_, settings_.current(), groups_->leader_of);
    if (!between) {
        log(LogLevel::debug, "{}", between.status().message());
        leaders_.reset();
        between_.reset();
        return;
    }
    auto before =
        std::exchange(between_, std::make_unique<BetweenHosts>(std::move(between).value()));
    if (leaders_ != nullptr) leaders_->plan_for(between_->tree, between_->settings);
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
    vector.binding.tolerance = call.tolerance;
    vector.binding.refusal = call.refusal;
    const std::uint64_t begin_ns = statistics_.is_observed() ? now_ns() : 0;
    const LeadersTraffic before = leaders_ != nullptr ? leaders_->traffic() : LeadersTraffic();
    const Status mine = vector.over_tree ? run_over_tree(vector) : run_by_mpi(vector);
    bool lossy = vector.over_tree && leaders_ != nullptr && leaders_->was_lossy();
    GRADCOLL_TRY(tell_outcome(mine, lossy));
    count(vector, before, lossy, begin_ns);
    return {};
}

/// Adds up the vectors of this host's ranks on its leader, in its `output`.
Status SeveralHosts::up(const Vector& vector, std::size_t first, std::size_t count,
                        std::byte* output) {
    if (const Status* const refusal = vector.binding.refusal; refusal != nullptr) {
        if (engine_ != nullptr)
            engine_->refuse(CallKind::reduce, vector.piece(count), refusal->code());
        return *refusal;
    }
    if (engine_ == nullptr) return {};
    Binding binding = vector.binding;
    binding.input = vector.input(first);
    binding.output = output;
    return engine_->run(CallKind::reduce, binding, vector.piece(count));
}

/// Gives what the leader has in `output` to the ranks of its host.
Status SeveralHosts::down(const Vector& vector, std::size_t count, std::byte* output) {
    if (engine_ == nullptr) return {};
    Binding binding;
    binding.output = output;
    return engine_->run(CallKind::bcast, binding, vector.piece(count));
}

Status SeveralHosts::run_by_mpi(const Vector& vector) {
    std::byte* const output = vector.output(0);
    if (is_leader()) return lead_by_mpi(vector, output);
    const Status status = up(vector, 0, vector.count(), output);
    const Status spread = down(vector, vector.count(), output);
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
    if (engine_ == nullptr) std::memcpy(sum, vector.input(0), size_bytes);
    Status status = up(vector, 0, vector.count(), sum);
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
    if (!status.ok()) status = judged(std::move(status));
    const Status spread = down(vector, vector.count(), sum);
    std::memcpy(output, sum, size_bytes);
    return status.ok() ? spread : status;
}

/// Begins the sum of a piece between hosts. If something failed, what this host has is wrong, and
/// the other hosts are told.
void SeveralHosts::begin_between(const Vector& vector, std::size_t first, std::size_t count,
                                 const Status& so_far) {
    CallKey key = vector.key;
    key.count = static_cast<std::int64_t>(count);
    Binding binding = vector.binding;
    binding.output = vector.output(first);
    binding.input = engine_ != nullptr ? vector.output(first) : vector.input(first);
    if (!so_far.ok()) {
        binding.refusal = &so_far;
        binding.input = binding.output;
    }
    key.in_place = binding.input == binding.output;
    leaders_->begin(key, binding);
}

/// All ranks of a host go up and down in the same order: a piece goes up as soon as one that went
/// before has come down. Whatever fails, the others are not kept waiting.
Status SeveralHosts::run_over_tree(const Vector& vector) {
    Status status;
    const auto note = [&](const Status& step) {
        if (status.ok()) status = step;
    };
    if (is_leader() && leaders_ == nullptr) note(open_between());
    const MessagesBeside beside(engine_.get(), leaders_.get());
    const std::size_t piece = piece_bytes_of(vector.shape.size_bytes()) / vector.shape.elem_bytes;
    const std::size_t pieces = divided_up(vector.count(), piece);
    const auto count_of = [&](std::size_t i) {
        return std::min(piece, vector.count() - i * piece);
    };
    for (std::size_t i = 0; i < pieces + pieces_under_way; ++i) {
        if (i >= pieces_under_way) {
            const std::size_t done = i - pieces_under_way;
            if (done < pieces) {
                if (leaders_ != nullptr) note(leaders_->finish_oldest());
                note(down(vector, count_of(done), vector.output(done * piece)));
            }
        }
        if (i >= pieces) continue;
        note(up(vector, i * piece, count_of(i), vector.output(i * piece)));
        if (leaders_ != nullptr) begin_between(vector, i * piece, count_of(i), status);
    }
    return status;
}

/// Returns the failure, or the death that it follows from.
Status SeveralHosts::judged(Status failure) const {
    PeerWatch* const peers = comm_.watch().get();
    return peers != nullptr ? peers->judged(std::move(failure)) : std::move(failure);
}

Status SeveralHosts::open_between() {
    auto leaders = std::make_unique<LeadersExchange>(*groups_->leaders);
    GRADCOLL_TRY(leaders->open(between_->settings));
    leaders->plan_for(between_->tree, between_->settings);
    observe_as(groups_->leaders->private_comm(), comm_.private_comm());
    leaders_ = std::move(leaders);
    return {};
}

/// Tells the ranks of this host what only the leader knows. An error of this rank itself goes
/// first.
Status SeveralHosts::tell_outcome(const Status& mine, bool& lossy) {
    if (engine_ == nullptr) return mine;
    struct Told {
        std::int32_t code;
        std::int32_t lossy;
    } told{static_cast<std::int32_t>(mine.code()), lossy ? 1 : 0};
    Binding binding;
    binding.output = &told;
    const Status heard = engine_->run(CallKind::bcast, binding, shape_of_bytes(sizeof told));
    if (!mine.ok() || !heard.ok()) return mine.ok() ? heard : mine;
    lossy = told.lossy != 0;
    const auto code = static_cast<Code>(told.code);
    if (code == Code::ok) return {};
    return judged({code, "the rank that talks to other hosts for this one failed"});
}

void SeveralHosts::count(const Vector& vector, const LeadersTraffic& before, bool lossy,
                         std::uint64_t begin_ns) {
    const LeadersTraffic after = leaders_ != nullptr ? leaders_->traffic() : before;
    const std::uint64_t bytes = vector.shape.size_bytes();
    const std::uint64_t in_memory = engine_ != nullptr ? bytes : 0;
    CallRecord record;
    record.bytes = bytes;
    record.lossy = lossy;
    record.shared_memory = !vector.over_tree;
    record.bytes_sent = in_memory + after.bytes_sent - before.bytes_sent;
    record.bytes_sent_exact = in_memory + after.exact_bytes - before.exact_bytes;
    record.packed_away_bytes = after.packed_away_bytes - before.packed_away_bytes;
    record.messages_sent = after.messages_sent - before.messages_sent;
    record.codec_ns = after.codec_ns - before.codec_ns;
    if (begin_ns != 0) {
        record.total_ns = now_ns() - begin_ns;
        record.wire_ns = after.wait_ns - before.wait_ns;
    }
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
