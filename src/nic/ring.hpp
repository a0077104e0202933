// nic/ring.hpp - the ends of a ring of entries between a rank and its agent. Each end keeps its own
// counter to itself, and only looks at the other's.
#pragma once

#include <optional>

#include "nic/layout.hpp"

namespace gradcoll {

/// NicWay says which way a ring goes.
enum class NicWay : std::uint8_t { to_agent, to_rank };

class NicRingWriter {
  public:
    NicRingWriter() = default;
    NicRingWriter(const NicLayout& layout, NicWay way)
        : words_(&layout.ring_words(way == NicWay::to_agent)),
          entries_(layout.ring_entries(way == NicWay::to_agent)),
          capacity_(layout.ring_capacity()) {}

    /// Returns whether there is room. What the reader says it has read may be a lie: then there may
    /// be no room for ever, and entries that it has not read are lost to it, but nobody else is
    /// harmed.
    bool has_room() const {
        return written_ - words_->read.load(std::memory_order_acquire) < capacity_;
    }
    /// Writes an entry; has_room() must hold. Whoever sleeps is to be woken afterwards: the store
    /// is ordered before later loads of this thread.
    void write(const NicEntry& entry) {
        entries_[written_ & (capacity_ - 1)] = entry;
        words_->written.store(++written_, std::memory_order_seq_cst);
    }

  private:
    NicRingWords* words_ = nullptr;
    NicEntry* entries_ = nullptr;
    std::uint64_t capacity_ = 1;
    std::uint64_t written_ = 0;
};

class NicRingReader {
  public:
    NicRingReader() = default;
    NicRingReader(const NicLayout& layout, NicWay way)
        : words_(&layout.ring_words(way == NicWay::to_agent)),
          entries_(layout.ring_entries(way == NicWay::to_agent)),
          capacity_(layout.ring_capacity()) {}

    bool is_empty() const { return words_->written.load(std::memory_order_seq_cst) == read_; }
    /// Returns a copy, which the writer can no longer change; nothing if there is no entry. Errors:
    /// corrupt if the writer's counter cannot be right.
    Result<std::optional<NicEntry>> read() {
        const std::uint64_t ahead = words_->written.load(std::memory_order_acquire) - read_;
        if (ahead == 0) return std::optional<NicEntry>();
        if (ahead > capacity_)
            return Status(Code::corrupt, "ring: more entries than it has room for");
        const NicEntry entry = entries_[read_ & (capacity_ - 1)];
        words_->read.store(++read_, std::memory_order_release);
        return std::optional<NicEntry>(entry);
    }

  private:
    NicRingWords* words_ = nullptr;
    NicEntry* entries_ = nullptr;
    std::uint64_t capacity_ = 1;
    std::uint64_t read_ = 0;
};

}  // namespace gradcoll
