#include "comm/verdicts.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.hpp"
#include "base/mpi/exchange.hpp"
#include "comm/host_ballots.hpp"
#include "comm/message_ballots.hpp"
#include "comm/started_calls.hpp"
#include "comm/ulfm_ballots.hpp"
#include "transport/shm/segment.hpp"

namespace gradcoll {
namespace {

/// Lets messages of the MPI library go on, by a look for one that nobody sends, and what is
/// started.
bool let_others_go_on(MPI_Comm comm) {
    int found = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, 0, comm, &found, MPI_STATUS_IGNORE);
    return advance_started_calls();
}

/// HostVotes are ballots with the memory that they are in.
class HostVotes final : public Ballots {
  public:
    HostVotes(const CommIdentity& comm, std::unique_ptr<SharedSegment> segment)
        : comm_(comm.private_comm()),
          segment_(std::move(segment)),
          ballots_(segment_->data(), segment_->bytes_a_rank(), comm.rank(), comm.rank_count(),
                   comm.watch(),
                   Waiter(
                       comm.patience(),
                       [](void* of) { return let_others_go_on(*static_cast<MPI_Comm*>(of)); },
                       &comm_)) {}

    void cast(std::uint64_t question, unsigned vote) override { ballots_.cast(question, vote); }
    std::optional<unsigned> answer() override { return ballots_.answer(); }
    void rest() override { ballots_.rest(); }

  private:
    MPI_Comm comm_;
    std::unique_ptr<SharedSegment> segment_;
    HostBallots ballots_;
};

/// VotesToCome lets the votes of a rank that takes no part come to their turn while it does other
/// things: others wait for them.
class VotesToCome final : public StartedCall {
  public:
    explicit VotesToCome(std::shared_ptr<Verdicts> verdicts) : verdicts_(std::move(verdicts)) {}
    Turn advance(Mover mover) override {
        const bool may_call_mpi = mover == Mover::program;
        return may_call_mpi && verdicts_->has_given_all_up() ? Turn::finished : Turn::idle;
    }

  private:
    std::shared_ptr<Verdicts> verdicts_;
};

/// Means says by what all ranks can agree. The MPI library brings them to it only if one thread of
/// each is inside at a time: agreements of Open MPI 5.0.11 go wrong otherwise (docs/gotchas.md).
/// Then they tell each other their votes.
struct Means {
    bool by_memory = false;
    bool by_mpi = false;
    bool by_messages = false;
    bool watches = false;  ///< all look for ranks that have died
};

Result<Means> common_means(const CommIdentity& comm, bool share_memory) {
    const bool watches = comm.watch() != nullptr;
    const bool sees = share_memory && comm.is_one_host() && watches && comm.watch()->sees_all();
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    const bool may_ask_mpi = ulfm().is_there() && level < MPI_THREAD_MULTIPLE;
    const bool may_talk = ulfm().is_there() && level == MPI_THREAD_MULTIPLE;
    const std::array<int, 4> mine = {sees ? 1 : 0, may_ask_mpi ? 1 : 0, watches ? 1 : 0,
                                     may_talk ? 1 : 0};
    const auto least = GRADCOLL_VALUE(combined(comm.private_comm(), MPI_MIN, mine));
    const bool all_watch = least[2] == 1;
    return Means{least[0] == 1, least[1] == 1 && all_watch, least[3] == 1 && all_watch, all_watch};
}

Result<std::unique_ptr<Ballots>> ballots_in_memory(const CommIdentity& comm) {
    static_assert(sizeof(HostBallots::Part) <= SharedSegment::granule_bytes);
    auto segment = GRADCOLL_VALUE(SharedSegment::make(
        comm.private_comm(), SharedSegment::granule_bytes, SharedSegment::granule_bytes));
    return std::unique_ptr<Ballots>(std::make_unique<HostVotes>(comm, std::move(segment)));
}

Result<std::unique_ptr<Ballots>> ballots_by_mpi(const CommIdentity& comm) {
    auto own = GRADCOLL_VALUE(PrivateComm::make(comm.private_comm()));
    return std::unique_ptr<Ballots>(
        std::make_unique<UlfmBallots>(std::move(own), comm.watch()->patience_ns()));
}

Result<std::unique_ptr<Ballots>> ballots_by_messages(const CommIdentity& comm) {
    auto own = GRADCOLL_VALUE(PrivateComm::make(comm.private_comm()));
    return std::unique_ptr<Ballots>(std::make_unique<MessageBallots>(std::move(own), comm.watch()));
}

/// Makes ballots, in memory if all ranks can. Errors, on all ranks: there are no means to agree;
/// those of shared segments.
Result<std::unique_ptr<Ballots>> make_ballots(const CommIdentity& comm, bool share_memory) {
    const Means means = GRADCOLL_VALUE(common_means(comm, share_memory));
    if (!means.watches)
        return Status(Code::unsupported, "GC_FAULT_SECONDS=0 keeps a rank from looking for others");
    if (means.by_memory) return ballots_in_memory(comm);
    if (means.by_mpi) return ballots_by_mpi(comm);
    if (means.by_messages) return ballots_by_messages(comm);
    return Status(Code::unsupported,
                  "they do not all share memory and see each other's processes, and the MPI "
                  "library has no ULFM, or not all have, or lack, MPI_THREAD_MULTIPLE");
}

}  // namespace

std::shared_ptr<Verdicts> Verdicts::make(const CommIdentity& comm, bool share_memory) {
    auto ballots = make_ballots(comm, share_memory);
    if (ballots)
        return std::make_shared<Verdicts>(std::move(ballots).value(), comm.watch(),
                                          comm.private_comm());
    log(comm.rank() == 0 ? LogLevel::warn : LogLevel::debug,
        "GC_FAULT=survive: ranks of communicator '{}' cannot agree on sums, as {}; a death is an "
        "error for those who wait, as with GC_FAULT=report",
        comm.name(), ballots.status().message());
    return {};
}

std::uint64_t Verdicts::take_number() {
    const std::scoped_lock lock(mutex_);
    return taken_++;
}

/// Takes note that nobody votes after the sum `last`.
void Verdicts::end_with(std::uint64_t last) {
    over_from_ = std::min(over_from_, last + 1);
}

/// Looks for the death that other ranks know of.
void Verdicts::learn_of_death() {
    peers_->look();
    if (!peers_->has_fault()) peers_->note(-1, "a rank has died or left, as other ranks say");
}

Status Verdicts::not_made() const {
    Status death = peers_->fault();
    if (!death.ok()) return death;
    return {Code::peer_failed, "the sum was not made: a rank has failed in it, or makes no more"};
}

/// Gives a vote on the sum whose turn it is, and returns whether there is an answer, which ends its
/// turn.
bool Verdicts::has_answer(unsigned& answer, unsigned vote) {
    if (!is_cast_) ballots_->cast(asked_, vote);
    is_cast_ = true;
    const auto found = ballots_->answer();
    if (!found) return false;
    answer = *found;
    is_cast_ = false;
    if ((answer & Vote::goes_on) == 0) {
        end_with(asked_);
        learn_of_death();
    }
    ++asked_;
    return true;
}

/// Gives the votes against the sums that were given up, as far as it is their turn.
void Verdicts::answer_given_up() {
    while (asked_ < over_from_) {
        const auto first = given_up_.begin();
        if (first == given_up_.end() || first->first != asked_) return;
        unsigned answer = 0;
        if (!has_answer(answer, first->second)) return;
        given_up_.erase(first);
    }
}

/// Gives a vote against a sum, with what else the vote is. Nobody waits for the answer.
void Verdicts::against(std::uint64_t number, unsigned vote) {
    const std::scoped_lock lock(mutex_);
    if (number >= over_from_) return;
    given_up_[number] = peers_->has_fault() ? vote & ~Vote::goes_on : vote;
    if ((given_up_[number] & Vote::goes_on) == 0) end_with(number);
    answer_given_up();
}

/// Returns whether none of these votes waits for its turn any more.
bool Verdicts::has_given_all_up() {
    const std::scoped_lock lock(mutex_);
    answer_given_up();
    const auto last = given_up_.rbegin();
    return asked_ >= over_from_ || last == given_up_.rend() || (is_cast_ && last->first == asked_);
}

void Verdicts::close() {
    std::uint64_t number = 0;
    {
        const std::scoped_lock lock(mutex_);
        if (over_from_ != never) return;
        number = taken_++;
    }
    against(number, 0);
}

std::optional<Status> Verdicts::verdict(std::uint64_t number, const Status& mine) {
    Status why = mine.ok() ? mine : peers_->judged(mine);
    if (why.code() == Code::peer_died) {
        against(number, 0);
        return why;
    }
    const std::scoped_lock lock(mutex_);
    answer_given_up();
    if (number >= over_from_) return why.ok() ? not_made() : why;
    if (number != asked_) return {};
    const unsigned knows_none = peers_->has_fault() ? 0U : Vote::goes_on;
    unsigned answer = 0;
    if (!has_answer(answer, knows_none | (why.ok() ? Vote::made : 0))) return {};
    answer_given_up();
    return (answer & Vote::made) != 0 || !why.ok() ? why : not_made();
}

Status Verdicts::wait_for(std::uint64_t number, const Status& mine) {
    for (;;) {
        if (auto known = verdict(number, mine)) return *std::move(known);
        rest(number);
    }
}

/// Rests, on the ballots if it is the turn of the sum.
void Verdicts::rest(std::uint64_t number) {
    bool is_its_turn = false;
    {
        const std::scoped_lock lock(mutex_);
        is_its_turn = is_cast_ && number == asked_;
    }
    if (is_its_turn) ballots_->rest();
    if (is_its_turn && !peers_->has_fault()) return;
    let_others_go_on(comm_);
    sched_yield();
}

PendingVerdict::PendingVerdict(std::shared_ptr<Verdicts> verdicts)
    : verdicts_(std::move(verdicts)) {
    if (verdicts_ != nullptr) number_ = verdicts_->take_number();
}

PendingVerdict& PendingVerdict::operator=(PendingVerdict&& other) noexcept {
    if (this == &other) return *this;
    drop();
    verdicts_ = std::move(other.verdicts_);
    number_ = other.number_;
    return *this;
}

void PendingVerdict::drop() noexcept {
    if (verdicts_ == nullptr) return;
    verdicts_->give_up(number_);
    if (!verdicts_->has_given_all_up())
        add_started_call(std::make_shared<VotesToCome>(std::move(verdicts_)));
    verdicts_.reset();
}

bool PendingVerdict::settles(Status& status) {
    if (verdicts_ == nullptr) return true;
    auto known = verdicts_->verdict(number_, status);
    if (!known) return false;
    status = *std::move(known);
    verdicts_.reset();
    return true;
}

Status PendingVerdict::settled(const Status& mine) {
    if (verdicts_ == nullptr) return mine;
    Status status = verdicts_->wait_for(number_, mine);
    verdicts_.reset();
    return status;
}

}  // namespace gradcoll
