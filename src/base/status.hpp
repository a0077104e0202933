// base/status.hpp - how every function inside the library says that it failed, and why.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace gradcoll {

/// Code is the kind of a failure; src/api maps each code to one MPI error class.
enum class Code : std::uint8_t {
    ok,
    invalid_argument,  ///< an argument has a value that is not allowed
    invalid_count,     ///< a count is negative or too large
    invalid_buffer,    ///< a buffer is null or overlaps another one
    invalid_type,      ///< a datatype does not fit the call or the codec
    invalid_op,        ///< an operation does not fit the datatype
    invalid_comm,      ///< a communicator is null or of the wrong kind
    unsupported,  ///< nothing is wrong, we just do not do it: leads to the MPI library's own call
    out_of_memory,
    io,           ///< a file could not be read or written
    corrupt,      ///< bytes from a peer or a file do not mean what they should
    transport,    ///< the MPI library (or another channel) reported an error
    peer_failed,  ///< another rank reported that it failed in this operation
    peer_died,    ///< another rank's process has ended
    internal      ///< a bug in this library
};

/// A Status is ok, or a code with a message that names the argument, its value, and what is
/// allowed.
/// It is cheap when ok (no allocation).
class [[nodiscard]] Status {
  public:
    Status() = default;
    Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

    bool ok() const { return code_ == Code::ok; }
    explicit operator bool() const { return ok(); }
    Code code() const { return code_; }
    const std::string& message() const { return message_; }

  private:
    Code code_ = Code::ok;
    std::string message_;
};

/// A Result is a value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : value_(std::move(value)) {}  // NOLINT: implicit by design
    Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }  // NOLINT

    bool ok() const { return value_.has_value(); }
    explicit operator bool() const { return ok(); }
    const Status& status() const { return status_; }
    T& value() & { return *value_; }
    const T& value() const& { return *value_; }
    T&& value() && { return std::move(*value_); }
    T& operator*() & { return *value_; }
    const T& operator*() const& { return *value_; }
    T* operator->() { return &*value_; }
    const T* operator->() const { return &*value_; }

  private:
    std::optional<T> value_;
    Status status_;
};

/// Moves the value to `out`, or says why there is none:
/// GRADCOLL_TRY(take(tree_, find_tree(comm))).
template <class T, class U>
Status take(T& out, Result<U> result) {
    if (!result.ok()) return result.status();
    out = std::move(result).value();
    return {};
}

}  // namespace gradcoll

/// Leaves the function with the Status if it is not ok. This and the next one are all check macros
/// of the house.
#define GRADCOLL_TRY(expression)                                                        \
    do {                                                                                \
        if (::gradcoll::Status gradcoll_status_ = (expression); !gradcoll_status_.ok()) \
            return gradcoll_status_;                                                    \
    } while (false)

/// Is the value of a Result; if it has none, leaves the function with its Status. It is only for a
/// whole initializer or right side of an assignment: nothing else of an expression is then left
/// half done.
#define GRADCOLL_VALUE(expression)                                    \
    __extension__({                                                   \
        auto gradcoll_result_ = (expression);                         \
        if (!gradcoll_result_.ok()) return gradcoll_result_.status(); \
        std::move(gradcoll_result_).value();                          \
    })
