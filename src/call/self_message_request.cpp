#include "call/self_message_request.hpp"

#include "call/progress_thread.hpp"

namespace gradcoll {

Result<std::shared_ptr<SelfMessageRequest>> SelfMessageRequest::make(Facts facts,
                                                                     MPI_Request* request) {
    const auto context = facts.call.context;
    const ChannelNumber number = GRADCOLL_VALUE(context->plans().next_channel_number());
    std::shared_ptr<SelfMessageRequest> made;
    MPI_Request receive = MPI_REQUEST_NULL;
    // A rank that starts a request which another rank does not have would wait for that rank.
    const Status all_have_it =
        done_on_all(context->identity().private_comm(), "set up the request", [&] {
            made.reset(new SelfMessageRequest);
            return made->set_up(std::move(facts), number, &receive);
        });
    if (all_have_it.ok()) {
        *request = receive;
        return made;
    }
    if (receive != MPI_REQUEST_NULL) PMPI_Request_free(&receive);
    return all_have_it;
}

Status SelfMessageRequest::set_up(Facts facts, ChannelNumber number, MPI_Request* request) {
    GRADCOLL_TRY(take(call_, PersistentCall::make(facts.call, facts.settings, number)));
    facts_ = std::move(facts);
    message_ = SelfMessage(number.channel->comm(), number.channel->channel().rank(),
                           static_cast<int>(number.number));
    return message_.receive_persistent(request);
}

Outcome SelfMessageRequest::begin() {
    if (facts_.call.copy.bytes != nullptr)
        GRADCOLL_TRY(facts_.call.copy.fill(*facts_.call.context));
    return call_->start();
}

void SelfMessageRequest::start() noexcept try {
    if (const Outcome begun = begin(); begun.mpi_code != MPI_SUCCESS) return finish(begun);
    give_to_progress_thread(shared_from_this(), {true, facts_.call.context->identity().yields()});
} catch (...) {
    finish(status_of_current_exception());
}

StartedCall::Turn SelfMessageRequest::advance(Mover mover) {
    const Turn turn = call_->advance(mover);
    if (turn != Turn::finished) return turn;
    Outcome outcome{Status()};
    call_->test(outcome);
    finish(outcome);
    return turn;
}

void SelfMessageRequest::finish(const Outcome& outcome) noexcept {
    if (outcome.mpi_code != MPI_SUCCESS) facts_.on_failure(*this);
    message_.send({facts_.call.entry->name, user_comm_of(facts_.call.context)}, outcome);
}

}  // namespace gradcoll
