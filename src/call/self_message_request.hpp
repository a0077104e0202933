// call/self_message_request.hpp - a persistent request that MPI itself starts and completes: to the
// MPI library it is a persistent receive of a self message. When MPI has started it the operation
// begins, the progress thread moves it, and its end sends the self message. So MPI_Wait,
// MPI_Testsome, MPI_Startall and all the others work on it unchanged.
#pragma once

#include <functional>
#include <memory>

#include "call/persistent_call.hpp"
#include "comm/self_message.hpp"

namespace gradcoll {

/// SelfMessageRequest is one persistent allreduce of an unchanged program. It needs
/// MPI_THREAD_MULTIPLE on every rank.
class SelfMessageRequest final : public StartedCall,
                                 public std::enable_shared_from_this<SelfMessageRequest> {
  public:
    struct Facts {
        Call call;  ///< an admitted call that does not pass; a copy of its input is made at each
                    ///< start
        Settings settings;
        /// It is called before the request completes with an error, by any thread.
        std::function<void(const SelfMessageRequest&)> on_failure;
    };
    /// Makes the request, on all ranks or on none. Collective. Errors: transport, those of
    /// planning, and peer_failed.
    static Result<std::shared_ptr<SelfMessageRequest>> make(Facts facts, MPI_Request* request);

    /// Begins the operation, after MPI has started the request. Waits for other ranks only where no
    /// thread can be started.
    void start() noexcept;
    Turn advance(Mover mover) override;

  private:
    SelfMessageRequest() = default;
    Status set_up(Facts facts, ChannelNumber number, MPI_Request* request);
    Outcome begin();
    void finish(const Outcome& outcome) noexcept;

    Facts facts_;
    SelfMessage message_;
    std::unique_ptr<PersistentCall> call_;
};

}  // namespace gradcoll
