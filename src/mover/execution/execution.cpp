// mover/execution/execution.cpp - see execution.hpp.
#include "mover/execution/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.hpp"

namespace gradcoll::mover {
namespace {

Status no_memory(std::int64_t bytes, const char* what) {
    return {Code::out_of_memory, fmt::format("{} bytes for {} cannot be had", bytes, what)};
}

}  // namespace

Execution::Execution(RankProgram rank, RankMoves moves, Tick step_ticks, const RankRoom& room,
                     std::unique_ptr<Machine> machine)
    : rank_(std::move(rank)),
      moves_(std::move(moves)),
      order_(order_of(rank_, moves_, step_ticks)),
      lane_(room.lane),
      machine_(std::move(machine)),
      memory_(*machine_, room.device_bytes),
      tensors_(rank_.tensors.size()),
      granted_(rank_.operators.size()),
      lives_in_host_(rank_.tensors.size()),
      is_moved_(rank_.tensors.size()),
      free_(room.device_bytes),
      measured_(rank_.operators.size()) {}

Result<std::unique_ptr<Execution>> Execution::make(RankProgram rank, RankMoves moves,
                                                   Tick step_ticks, const RankRoom& room,
                                                   std::unique_ptr<Machine> machine) {
    std::unique_ptr<Execution> made(
        new Execution(std::move(rank), std::move(moves), step_ticks, room, std::move(machine)));
    GRADCOLL_TRY(made->take_memory());
    made->begin_plan();
    made->start_threads();
    return made;
}

/// Allocates the pool and writes it once, so that its pages exist before the first step.
Status Execution::take_pool() {
    const auto pool_bytes = static_cast<std::size_t>(moves_.pool_bytes);
    const auto memory = machine_->allocate_pool(moves_.pool_bytes);
    if (!memory.ok()) return no_memory(moves_.pool_bytes, "the pool in the host");
    pool_ = Pool(*memory, PoolEnd{machine_.get()});
    std::memset(pool_.get(), 0, pool_bytes);
    return {};
}

void Execution::find_moved() {
    std::fill(lives_in_host_.begin(), lives_in_host_.end(), nullptr);
    std::fill(is_moved_.begin(), is_moved_.end(), 0);
    for (const Move& move : moves_.moves) {
        is_moved_[index_of(move.tensor)] = 1;
        if (move.lives_in_host()) lives_in_host_[index_of(move.tensor)] = &move;
    }
}

Status Execution::take_memory() {
    GRADCOLL_TRY(take_pool());
    find_moved();
    for (std::size_t t = 0; t < rank_.tensors.size(); ++t) {
        if (!rank_.tensors[t].stays || lives_in_host_[t] != nullptr) continue;
        free_ -= rank_.tensors[t].bytes;
        memory_.set_aside(rank_.tensors[t].bytes);
    }
    return place_what_moves();
}

/// Allocates the tensors that stay and move, and are in the device between steps.
Status Execution::place_what_moves() {
    for (const Move& move : moves_.moves) {
        const std::size_t t = index_of(move.tensor);
        if (rank_.tensors[t].stays && lives_in_host_[t] == nullptr) GRADCOLL_TRY(place_zeros(t));
    }
    return {};
}

/// Allocates a tensor that was only counted so far.
Status Execution::place_counted(std::size_t tensor) {
    memory_.set_aside(-rank_.tensors[tensor].bytes);
    return place(tensor);
}

/// Allocates a tensor that stays and sets it to zero, unless that was done before.
Status Execution::place_zeros(std::size_t tensor) {
    if (tensors_[tensor] != nullptr) return {};
    GRADCOLL_TRY(place_counted(tensor));
    return machine_->zero(tensors_[tensor], rank_.tensors[tensor].bytes);
}

void Execution::start_threads() {
    out_ = std::thread([this] { send(); });
    in_ = std::thread([this] { fetch(); });
}

Execution::~Execution() {
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    if (out_.joinable()) out_.join();
    if (in_.joinable()) in_.join();
    for (std::size_t t = 0; t < tensors_.size(); ++t)
        if (tensors_[t] != nullptr) remove(t);
}

Status Execution::place(std::size_t tensor) {
    const std::int64_t bytes = rank_.tensors[tensor].bytes;
    tensors_[tensor] = memory_.take(bytes);
    return tensors_[tensor] != nullptr ? Status() : no_memory(bytes, "a tensor");
}

/// Takes memory for what an operator makes; only counts what does not move.
Status Execution::place_made(std::size_t tensor) {
    if (is_moved_[tensor] != 0) return place(tensor);
    memory_.set_aside(rank_.tensors[tensor].bytes);
    return {};
}

void Execution::remove(std::size_t tensor) {
    if (tensors_[tensor] == nullptr) return memory_.set_aside(-rank_.tensors[tensor].bytes);
    memory_.give_back(tensors_[tensor], rank_.tensors[tensor].bytes);
    tensors_[tensor] = nullptr;
}

Tick Execution::since_begin() const {
    return static_cast<Tick>(now_ns() - begin_ns_);
}

// ---- the program's side

Status Execution::begin_step() {
    const std::scoped_lock lock(mutex_);
    if (in_step_) return {Code::invalid_argument, "a step is under way; end it first"};
    if (!failure_.ok()) return failure_;
    // What is fetched ahead comes now, for the first step.
    if (step_ == 0)
        for (const Claim& claim : order_.claims)
            if (claim.is_ahead) ask(claim);
    ++step_;
    for (const std::size_t m : order_.transfers) sends_.push_back({m, step_});
    std::fill(granted_.begin(), granted_.end(), 0);
    std::fill(measured_.begin(), measured_.end(), Span{});
    next_claim_ = 0;
    ended_ = -1;
    current_ = {};
    current_.steps = figures_.steps;
    in_step_ = true;
    begin_ns_ = now_ns();
    claim_after(-1);
    grant();
    wake_movers();
    return {};
}

/// Wakes the threads that move, if there is anything to move in this plan.
void Execution::wake_movers() {
    if (!moves_.moves.empty()) changed_.notify_all();
}

Status Execution::check_next(std::int32_t op, bool begins) const {
    if (!in_step_) return {Code::invalid_argument, "no step is under way; begin one first"};
    if (in_operator_ == begins)
        return {Code::invalid_argument,
                begins ? fmt::format("op is {}, while operator {} runs", op, ended_ + 1)
                       : fmt::format("op is {}, and none runs", op)};
    const auto operators = static_cast<std::int32_t>(rank_.operators.size());
    if (op != ended_ + 1 || op >= operators)
        return {Code::invalid_argument,
                fmt::format("op is {}; next of {} is {}", op, operators, ended_ + 1)};
    return failure_;
}

Status Execution::begin_operator(std::int32_t op) {
    {
        const std::scoped_lock lock(mutex_);
        GRADCOLL_TRY(check_next(op, true));
        claim_until(op);
        grant();
    }
    wake_movers();
    GRADCOLL_TRY(wait_for(op));
    in_operator_ = true;
    measured_[index_of(op)].start = since_begin();
    return {};
}

Status Execution::wait_for(std::int32_t op) {
    const auto have_all = [&](const std::vector<std::size_t>& moves, std::int64_t Trips::*done) {
        return std::all_of(moves.begin(), moves.end(),
                           [&](std::size_t m) { return trips_[m].*done >= step_; });
    };
    const auto are_here = [&] {
        return !failure_.ok() ||
               (have_all(order_.needed_by[index_of(op)], &Trips::back) &&
                have_all(order_.gone_by[index_of(op)], &Trips::left) && is_clear(op));
    };
    const auto has_memory = [&] { return !failure_.ok() || granted_[index_of(op)] != 0; };
    std::unique_lock lock(mutex_);
    const auto wait = [&](const auto& is_over, std::int64_t& waits, Tick& waited) {
        if (is_over()) return Tick{0};
        const std::uint64_t from = now_ns();
        changed_.wait(lock, is_over);
        const auto ticks = static_cast<Tick>(now_ns() - from);
        ++waits;
        waited += ticks;
        return ticks;
    };
    const Tick all = wait(has_memory, current_.waits_for_memory, current_.waited_for_memory) +
                     wait(are_here, current_.waits_for_tensors, current_.waited_for_tensors);
    if (all > current_.longest_wait) {
        current_.longest_wait = all;
        current_.longest_wait_of = op;
    }
    GRADCOLL_TRY(Status(failure_));
    for (const std::size_t t : order_.made_by[index_of(op)]) GRADCOLL_TRY(place_made(t));
    return {};
}

Status Execution::end_operator(std::int32_t op) {
    {
        const std::scoped_lock lock(mutex_);
        GRADCOLL_TRY(check_next(op, false));
    }
    GRADCOLL_TRY(machine_->finish_operator());
    {
        const std::scoped_lock lock(mutex_);
        measured_[index_of(op)].end = since_begin();
        in_operator_ = false;
        ended_ = op;
        free_ += rank_.operators[index_of(op)].workspace_bytes;
        for (const std::size_t t : order_.ended_by[index_of(op)]) {
            free_ += rank_.tensors[t].bytes;
            remove(t);
        }
        claim_after(op);
        grant();
    }
    wake_movers();
    return {};
}

Status Execution::end_step() {
    const std::scoped_lock lock(mutex_);
    if (!in_step_ || in_operator_ || index_of(ended_ + 1) != rank_.operators.size())
        return {Code::invalid_argument,
                fmt::format("the step has not come to its end: {} of {} operators have ended",
                            ended_ + 1, rank_.operators.size())};
    current_.step = measured_.empty() ? 0 : measured_.back().end;
    GRADCOLL_TRY(Status(failure_));
    in_step_ = false;
    has_measured_ = true;
    ++current_.steps;
    current_.peak_bytes = memory_.peak();
    figures_ = current_;
    return {};
}

Result<std::byte*> Execution::tensor(std::int32_t tensor) {
    if (tensor < 0 || index_of(tensor) >= tensors_.size())
        return Status(Code::invalid_argument, fmt::format("tensor is {}; allowed are 0 to {}",
                                                          tensor, tensors_.size() - 1));
    std::unique_lock lock(mutex_);
    if (!in_step_ && lives_in_host_[index_of(tensor)] != nullptr) GRADCOLL_TRY(drain(lock));
    if (const Move* move = hosted_for(tensor, in_operator_ ? ended_ + 1 : -1); move != nullptr)
        return in_host(*move);
    const DeviceTensor& described = rank_.tensors[index_of(tensor)];
    const bool is_used =
        in_step_ ? in_operator_ &&
                       std::binary_search(described.uses.begin(), described.uses.end(), ended_ + 1)
                 : described.stays;
    if (!is_used)
        return Status(Code::invalid_argument,
                      fmt::format("tensor is {}, which the operator at work does not use", tensor));
    if (described.stays)
        GRADCOLL_TRY(place_zeros(index_of(tensor)));
    else if (tensors_[index_of(tensor)] == nullptr)
        GRADCOLL_TRY(place_counted(index_of(tensor)));
    return tensors_[index_of(tensor)];
}

Result<std::byte*> Execution::take_over(std::int32_t tensor) {
    if (!machine_->is_of_malloc())
        return Status(Code::unsupported, "memory of a device cannot be taken over");
    std::byte* const data = GRADCOLL_VALUE(this->tensor(tensor));
    const std::scoped_lock lock(mutex_);
    const DeviceTensor& described = rank_.tensors[index_of(tensor)];
    if (described.stays || described.uses.back() != ended_ + 1)
        return Status(Code::invalid_argument,
                      fmt::format("tensor is {}, which later operators use as well", tensor));
    tensors_[index_of(tensor)] = nullptr;  // so it is only counted
    return data;
}

/// Returns the move that has the tensor in the host now, if the program may look at it: between
/// steps, or because `op` works on it there. Otherwise null.
const Move* Execution::hosted_for(std::int32_t tensor, std::int32_t op) const {
    if (!in_step_) {
        const Move* home = lives_in_host_[index_of(tensor)];
        const bool is_there =
            home != nullptr && is_in_host(static_cast<std::size_t>(home - moves_.moves.data()));
        return is_there ? home : nullptr;
    }
    if (op < 0) return nullptr;
    for (const std::size_t m : order_.gone_by[index_of(op)])
        if (moves_.moves[m].tensor == tensor) return &moves_.moves[m];
    return nullptr;
}

// ---- memory, in the plan's order

/// Makes the plan's claims up to the operator's own.
void Execution::claim_until(std::int32_t op) {
    while (next_claim_ < order_.claims.size()) {
        const Claim& claim = order_.claims[next_claim_];
        if (claim.is_move ? claim.after >= op : std::cmp_greater(claim.index, op)) break;
        ask(claim);
        ++next_claim_;
    }
}

/// Makes the claims of PREFETCHs that the plan has after the end of `op`, before the next
/// operator's claim.
void Execution::claim_after(std::int32_t op) {
    for (; next_claim_ < order_.claims.size(); ++next_claim_) {
        const Claim& claim = order_.claims[next_claim_];
        if (!claim.is_move || claim.after > op) break;
        ask(claim);
    }
}

void Execution::ask(const Claim& claim) {
    asked_.push_back({claim, step_});
}

void Execution::grant() {
    for (; !asked_.empty() && asked_.front().claim.bytes <= free_; asked_.pop_front()) {
        const auto& [claim, step] = asked_.front();
        free_ -= claim.bytes;
        if (claim.is_move)
            fetches_.push_back({claim.index, step});
        else
            granted_[claim.index] = 1;
    }
}

// ---- the streams

/// Forgets the moves of another plan: what lives in the host is there.
void Execution::begin_plan() {
    trips_.assign(moves_.moves.size(), {});
    step_ = 0;
    sent_ = fetched_ = static_cast<std::int64_t>(moves_.moves.size());
    for (std::size_t m = 0; m < trips_.size(); ++m) {
        trips_[m].left = moves_.moves[m].lives_in_host() ? 1 : 0;
        fetched_ -= moves_.moves[m].is_ahead() ? 1 : 0;
    }
}

bool Execution::can_send() const {
    if (sends_.empty()) return false;
    const auto [m, step] = sends_.front();
    if (moves_.moves[m].lives_in_host() && trips_[m].back < step) return false;
    const auto operators = static_cast<std::int64_t>(rank_.operators.size());
    if (!draining_ && step * operators + order_.sent_after[m] > step_ * operators + ended_)
        return false;
    const auto& before = order_.place_after[m];
    return std::all_of(before.begin(), before.end(),
                       [&, step = step](std::size_t other) { return trips_[other].back >= step; });
}

bool Execution::can_fetch() const {
    if (fetches_.empty()) return false;
    const auto [m, step] = fetches_.front();
    return trips_[m].left >= step + (moves_.moves[m].is_ahead() ? 1 : 0);
}

/// Returns whether the moves that the plan has before a collective have ended.
bool Execution::is_clear(std::int32_t op) const {
    const MoveOrder::Ended& before = order_.ended_before[index_of(op)];
    const std::int64_t earlier = (step_ - 1) * static_cast<std::int64_t>(moves_.moves.size());
    return sent_ - earlier >= static_cast<std::int64_t>(before.transfers) &&
           fetched_ - earlier >= static_cast<std::int64_t>(before.prefetches);
}

bool Execution::is_idle() const {
    return asked_.empty() && sends_.empty() && fetches_.empty() && under_way_ == 0;
}

/// Waits, between steps, until nothing is under way.
Status Execution::drain(std::unique_lock<std::mutex>& lock) {
    draining_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !failure_.ok() || is_idle(); });
    draining_ = false;
    return failure_;
}

/// Records the failure and wakes all waiting threads.
void Execution::fail(Status failure) {
    failure_ = std::move(failure);
    changed_.notify_all();
}

/// Counts a move that has ended for the step in which it started, which is the one under way or the
/// last one, and returns the figures of that step.
ExecutionFigures& Execution::count(const Trip& trip, Tick took) {
    ExecutionFigures& figures = in_step_ && trip.step == step_ ? current_ : figures_;
    figures.moving += took;
    figures.moved_bytes += rank_.tensors[index_of(moves_.moves[trip.move].tensor)].bytes;
    return figures;
}

void Execution::send() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return stop_ || can_send(); });
        if (stop_) return;
        const Trip trip = sends_.front();
        sends_.pop_front();
        ++under_way_;
        const Move& move = moves_.moves[trip.move];
        const std::int64_t bytes = rank_.tensors[index_of(move.tensor)].bytes;
        const std::byte* from = tensors_[index_of(move.tensor)];
        lock.unlock();
        const auto took = machine_->move(Way::out, in_host(move), from, bytes, lane_);
        lock.lock();
        --under_way_;
        if (!took.ok()) {
            fail(took.status());
            continue;
        }
        remove(index_of(move.tensor));
        ++trips_[trip.move].left;
        ++sent_;
        free_ += bytes;
        count(trip, *took);
        grant();
        changed_.notify_all();
    }
}

void Execution::fetch() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return stop_ || can_fetch(); });
        if (stop_) return;
        const Trip trip = fetches_.front();
        fetches_.pop_front();
        const Move& move = moves_.moves[trip.move];
        const std::int64_t bytes = rank_.tensors[index_of(move.tensor)].bytes;
        if (Status placed = place(index_of(move.tensor)); !placed.ok()) {
            fail(std::move(placed));
            continue;
        }
        ++under_way_;
        std::byte* to = tensors_[index_of(move.tensor)];
        lock.unlock();
        const auto took = machine_->move(Way::in, to, in_host(move), bytes, lane_);
        lock.lock();
        --under_way_;
        if (!took.ok()) {
            fail(took.status());
            continue;
        }
        ++trips_[trip.move].back;
        ++fetched_;
        ++count(trip, *took).moves;
        changed_.notify_all();
    }
}

}  // namespace gradcoll::mover
