#include "api/calls/token_request.hpp"

#include <cstring>

#include "api/calls/progress_thread.hpp"

namespace gradcoll {

Result<std::shared_ptr<TokenRequest>> TokenRequest::make(Facts facts, MPI_Request* request) {
    std::shared_ptr<TokenRequest> made(new TokenRequest);
    const auto number = facts.call.context->plans().next_channel_number();
    if (!number) return number.status();
    GRADCOLL_TRY(take(made->call_, PersistentCall::make(facts.call, facts.settings, *number)));
    made->facts_ = std::move(facts);
    made->token_ = Token(number->channel->comm(), number->channel->channel().rank(),
                         static_cast<int>(number->number));
    GRADCOLL_TRY(made->token_.receive_persistent(request));
    return made;
}

Outcome TokenRequest::begin() {
    if (facts_.copied_from != nullptr)
        std::memcpy(facts_.call.copy.get(), facts_.copied_from, call_->size_bytes());
    return call_->start();
}

void TokenRequest::start() noexcept try {
    if (const Outcome begun = begin(); begun.mpi_code != MPI_SUCCESS) return finish(begun);
    give_to_progress_thread(shared_from_this(), {true, facts_.call.context->identity().yields()});
} catch (...) {
    finish(status_of_current_exception());
}

StartedCall::Turn TokenRequest::advance(Mover mover) {
    const Turn turn = call_->advance(mover);
    if (turn != Turn::finished) return turn;
    Outcome outcome{Status()};
    call_->test(outcome);
    finish(outcome);
    return turn;
}

void TokenRequest::finish(const Outcome& outcome) noexcept {
    if (outcome.mpi_code != MPI_SUCCESS) facts_.on_failure(*this);
    token_.send({facts_.call.entry->name, user_comm_of(facts_.call.context)}, outcome);
}

}  // namespace gradcoll
