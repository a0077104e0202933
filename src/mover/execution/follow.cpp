// mover/execution/follow.cpp - switches an execution to another plan between two steps.
#include <utility>

#include "mover/execution/execution.hpp"

namespace gradcoll::mover {

Status Execution::follow(RankProgram rank, RankMoves moves, Tick step_ticks, const RankRoom& room) {
    std::unique_lock lock(mutex_);
    if (in_step_) return {Code::invalid_argument, "a step is under way; end it first"};
    if (!failure_.ok()) return failure_;
    GRADCOLL_TRY(drain(lock));
    failure_ = send_home();
    if (!failure_.ok()) return failure_;
    // The moves that say where tensors lived are kept until their bytes are in their new place.
    const RankMoves old_moves = std::exchange(moves_, std::move(moves));
    std::vector<const Move*> lived(rank_.tensors.size(), nullptr);
    for (const Move& move : old_moves.moves)
        if (move.lives_in_host()) lived[index_of(move.tensor)] = &move;
    rank_ = std::move(rank);
    order_ = order_of(rank_, moves_, step_ticks);
    begin_plan();
    lane_ = room.lane;
    has_measured_ = false;
    const Pool old_pool = std::move(pool_);
    find_moved();
    failure_ = take_pool();
    if (failure_.ok()) failure_ = settle_states(lived, old_pool.get());
    return failure_;
}

/// Takes what was fetched ahead back to where it lives.
Status Execution::send_home() {
    for (std::size_t m = 0; m < moves_.moves.size(); ++m) {
        const Move& move = moves_.moves[m];
        if (!move.lives_in_host() || is_in_host(m)) continue;
        const std::size_t t = index_of(move.tensor);
        GRADCOLL_TRY(machine_->copy(in_host(move), tensors_[t], rank_.tensors[t].bytes));
        remove(t);
        free_ += rank_.tensors[t].bytes;
    }
    return {};
}

/// Moves tensors that stay between device and host. Those that leave the device go first, to make
/// room for those that come.
Status Execution::settle_states(const std::vector<const Move*>& lived, const std::byte* old_pool) {
    const auto bytes_of = [&](std::size_t t) { return rank_.tensors[t].bytes; };
    for (std::size_t t = 0; t < lived.size(); ++t) {
        const Move* home = lives_in_host_[t];
        if (home == nullptr) continue;
        if (lived[t] != nullptr) {
            GRADCOLL_TRY(
                machine_->copy(in_host(*home), old_pool + lived[t]->host_offset, bytes_of(t)));
            continue;
        }
        if (tensors_[t] != nullptr) {
            GRADCOLL_TRY(machine_->copy(in_host(*home), tensors_[t], bytes_of(t)));
            remove(t);
        } else {
            memory_.set_aside(-bytes_of(t));
        }
        free_ += bytes_of(t);
    }
    for (std::size_t t = 0; t < lived.size(); ++t) {
        if (lived[t] == nullptr || lives_in_host_[t] != nullptr) continue;
        free_ -= bytes_of(t);
        memory_.set_aside(bytes_of(t));
        GRADCOLL_TRY(place_zeros(t));
        GRADCOLL_TRY(machine_->copy(tensors_[t], old_pool + lived[t]->host_offset, bytes_of(t)));
    }
    return place_what_moves();
}

}  // namespace gradcoll::mover
