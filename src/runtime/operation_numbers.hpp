// runtime/operation_numbers.hpp - the numbers of operations that share a channel, and when each may
// begin.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/tags.hpp"

namespace gradcoll {

class OperationNumbers;

/// SignatureChange compares an operation's signature with that of the operation before it that had
/// one.
enum class SignatureChange : std::uint8_t {
    none,
    changed,
    unknown  ///< an operation has failed: other ranks may have known of another signature
};

/// OperationNumber is the number of one operation, the same on all ranks. It is held until the
/// operation has ended (or has turned out not to begin); the end of this object, or end(), says so.
/// Used by one thread at a time. Allocates nothing.
class OperationNumber {
  public:
    OperationNumber() = default;
    OperationNumber(OperationNumber&& other) noexcept
        : numbers_(std::exchange(other.numbers_, nullptr)), value_(other.value_) {}
    OperationNumber& operator=(OperationNumber&& other) noexcept {
        end();
        numbers_ = std::exchange(other.numbers_, nullptr);
        value_ = other.value_;
        return *this;
    }
    ~OperationNumber() { end(); }

    std::uint32_t value() const { return value_; }
    /// Returns whether the operation may begin: the one before that had its tags has ended on this
    /// rank. Then messages of the two cannot be mistaken for each other, if every rank waits for
    /// this. True for an empty number, which waits for nobody.
    inline bool has_turn() const;
    inline void end();
    /// Takes note that the operation has failed on this rank.
    inline void note_failure();
    /// Takes note that it has left messages behind that nobody takes.
    inline void note_leftovers();
    /// Returns whether an operation before it has left messages: some of this one may be mistaken
    /// for them.
    inline bool meets_leftovers() const;
    bool is_counted() const { return numbers_ != nullptr; }

  private:
    friend class OperationNumbers;
    OperationNumber(OperationNumbers& numbers, std::uint32_t value)
        : numbers_(&numbers), value_(value) {}

    OperationNumbers* numbers_ = nullptr;
    std::uint32_t value_ = 0;
};

/// OperationNumbers counts operations, and which have ended. As many as the tags tell apart overlap
/// freely; an executor begins one more only when the one with the same tags has ended. So start()
/// never waits, nothing is refused, and no message is taken for another's.
///
/// Numbers are taken by one thread at a time, in the same order on all ranks, and end on any
/// thread. No locks. Must outlive its numbers.
class OperationNumbers {
  public:
    explicit OperationNumbers(const TagLayout& tags) : ended_(tags.sequence_count()) {}

    OperationNumber take() { return {*this, next_++}; }
    /// Takes the signature of the operation whose number was taken last, and compares it with the
    /// one before. 0 is no signature, and changes nothing. If it is changed on one rank it is that
    /// or unknown on the others whose operations are the same. `length` tells an operation in
    /// several pieces from the last one of these; it is 0 for others.
    SignatureChange change_to(std::uint64_t signature, std::uint64_t length = 0) {
        if (signature == 0) return SignatureChange::none;
        bool is_same = std::exchange(last_signature_, signature) == signature;
        if (length != 0) is_same &= std::exchange(last_length_, length) == length;
        if (has_failed_.exchange(false, std::memory_order_relaxed)) return SignatureChange::unknown;
        return is_same ? SignatureChange::none : SignatureChange::changed;
    }

  private:
    friend class OperationNumber;
    std::uint32_t count() const { return static_cast<std::uint32_t>(ended_.size()); }

    /// One counter per tag field tells how many of its operations have ended. The number of fields
    /// is a power of two.
    std::vector<std::atomic<std::uint32_t>> ended_;
    std::uint32_t next_ = 0;
    std::uint64_t last_signature_ = 0;
    std::uint64_t last_length_ = 0;
    std::atomic<bool> has_leftovers_ = false;
    std::atomic<bool> has_failed_ =
        false;  ///< whether an operation has failed since the last one that had a signature
};

inline bool OperationNumber::has_turn() const {
    if (numbers_ == nullptr) return true;
    const std::uint32_t field = value_ % numbers_->count();
    // Both wrap at 2^32, as numbers do.
    return numbers_->ended_[field].load(std::memory_order_acquire) * numbers_->count() ==
           value_ - field;
}

inline void OperationNumber::note_failure() {
    if (numbers_ != nullptr) numbers_->has_failed_.store(true, std::memory_order_relaxed);
}

inline void OperationNumber::note_leftovers() {
    if (numbers_ != nullptr) numbers_->has_leftovers_.store(true, std::memory_order_relaxed);
}

inline bool OperationNumber::meets_leftovers() const {
    return numbers_ != nullptr && numbers_->has_leftovers_.load(std::memory_order_relaxed);
}

inline void OperationNumber::end() {
    if (numbers_ == nullptr) return;
    numbers_->ended_[value_ % numbers_->count()].fetch_add(1, std::memory_order_release);
    numbers_ = nullptr;
}

}  // namespace gradcoll
