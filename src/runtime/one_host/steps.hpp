// runtime/one_host/steps.hpp - a collective written as one function that may stop where it would
// wait for other ranks, and go on there later.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "base/status.hpp"

namespace gradcoll {

/// StepsRoom holds the local variables of one collective at a time; it grows to what the largest
/// needs.
class StepsRoom {
  public:
    void* take(std::size_t size_bytes) {
        if (size_bytes > size_bytes_) {
            room_.reset(new std::byte[size_bytes]);
            size_bytes_ = size_bytes;
        }
        return room_.get();
    }

  private:
    std::unique_ptr<std::byte[]> room_;
    std::size_t size_bytes_ = 0;
};

/// Steps is what such a function returns. The function is a member of a class that has `StepsRoom&
/// room()`, and begins to run when it is called. It ends with co_return of a Status.
class Steps {
  public:
    struct promise_type {
        Status outcome;
        std::exception_ptr exception;

        template <class Owner, class... Arguments>
        static void* operator new(std::size_t size_bytes, Owner& owner, const Arguments&...) {
            return owner.room().take(size_bytes);
        }
        static void operator delete(void*, std::size_t) {}
        Steps get_return_object() {
            return Steps(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_value(Status status) { outcome = std::move(status); }
        void unhandled_exception() { exception = std::current_exception(); }
    };

    Steps() = default;
    Steps(Steps&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Steps& operator=(Steps&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Steps() {
        if (handle_) handle_.destroy();
    }

    bool is_over() const { return handle_.done(); }
    /// Continues from where it stopped.
    void go_on() { handle_.resume(); }
    /// Returns the status once the function is over. Throws what the function threw.
    Status outcome() const {
        if (handle_.promise().exception) std::rethrow_exception(handle_.promise().exception);
        return std::move(handle_.promise().outcome);
    }

  private:
    explicit Steps(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

    std::coroutine_handle<promise_type> handle_;
};

}  // namespace gradcoll
