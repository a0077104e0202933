#include "runtime/one_host/startable.hpp"

#include <utility>

namespace gradcoll {

Startable& Startable::start(const Opening& opening) {
    opening_ = opening;
    is_started_ = true;
    has_begun_ = false;
    return *this;
}

void Startable::begin() {
    group_.begin_call(opening_.signature, opening_.inline_bytes, opening_.waits);
    has_begun_ = true;
    steps_ = steps_of_started();
}

void Startable::wait() {
    if (has_begun_)
        wait_for(awaited_rank_, awaited_step_);
    else
        begin();
}

bool Startable::advance() {
    if (!has_begun_) {
        if (!group_.may_begin_call(opening_.inline_bytes, opening_.waits)) return false;
        begin();
        return true;
    }
    if (steps_.is_over() || !has_come(awaited_rank_, awaited_step_)) return false;
    steps_.go_on();
    return true;
}

Status Startable::outcome() {
    is_started_ = has_begun_ = false;
    return std::exchange(steps_, {}).outcome();
}

void Startable::drop() {
    is_started_ = has_begun_ = false;
    static_cast<void>(std::exchange(steps_, {}));
}

bool Startable::has_come(int rank, std::uint32_t step) {
    if (step == readers) return group_.blocks_are_free();
    return rank == all_others ? group_.all_have_come_to(step) : group_.has_come_to(rank, step);
}

bool Startable::waited_for(const Until& until) {
    if (is_started_) return has_come(until.rank, until.step);
    wait_for(until.rank, until.step);
    return true;
}

void Startable::wait_for(int rank, std::uint32_t step) {
    if (step == readers)
        group_.begin_blocks();
    else if (rank == all_others)
        group_.wait_for_all(step);
    else
        group_.wait_for(rank, step);
}

}  // namespace gradcoll
