// transport/entries.hpp - messages under way in one process: places that are used again, and
// lists through them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradcoll {

inline constexpr std::uint32_t no_entry = ~std::uint32_t{0};

/// EntryList keeps entries in the order in which they were put in.
struct EntryList {
    std::uint32_t first = no_entry;
    std::uint32_t last = no_entry;
    bool empty() const { return first == no_entry; }
};

/// An EntryPool gives out places that are used again. `Entry` has `std::uint64_t id` and
/// `std::uint32_t next`. Ids tell the uses of one place apart: a peer that gives back an old one is
/// not taken for somebody else. Allocates only while more entries are in use than ever before.
template <class Entry>
class EntryPool {
  public:
    /// Makes room for this many entries at a time.
    void reserve(std::size_t count) {
        entries_.reserve(count);
        while (entries_.size() < count) add_place();
    }
    Entry& operator[](std::uint32_t index) { return entries_[index]; }

    /// Takes a new entry with an id of its own.
    std::uint32_t take() {
        if (free_ == no_entry) add_place();
        const std::uint32_t index = free_;
        free_ = entries_[index].next;
        const std::uint64_t id = entries_[index].id + used_step;
        entries_[index] = Entry{};
        entries_[index].id = id;
        return index;
    }
    /// Frees the entry, which must be in no list.
    void give_back(std::uint32_t index) {
        entries_[index].id += used_step;
        entries_[index].next = free_;
        free_ = index;
    }
    enum class Known : std::uint8_t { in_use, past, never };
    /// Returns what an id that a peer gave back stands for; `index` is its place unless it never
    /// was one.
    Known look_up(std::uint64_t id, std::uint32_t& index) const {
        index = static_cast<std::uint32_t>(id & (used_step - 1));
        if (index >= entries_.size() || id > entries_[index].id) return Known::never;
        return id == entries_[index].id && is_used(id) ? Known::in_use : Known::past;
    }

    void push_back(EntryList& list, std::uint32_t index) {
        entries_[index].next = no_entry;
        (list.empty() ? list.first : entries_[list.last].next) = index;
        list.last = index;
    }
    /// Takes the first entry for which `fits(entry)` out of the list; no_entry if there is none.
    template <class Fits>
    std::uint32_t remove_first(EntryList& list, Fits fits) {
        std::uint32_t before = no_entry;
        for (std::uint32_t at = list.first; at != no_entry; at = entries_[at].next) {
            if (fits(entries_[at])) {
                const std::uint32_t after = entries_[at].next;
                (before == no_entry ? list.first : entries_[before].next) = after;
                if (list.last == at) list.last = before;
                return at;
            }
            before = at;
        }
        return no_entry;
    }
    /// Takes every entry for which `fits(entry)` out of the list and hands it to `then(index)`.
    /// Returns whether there was one.
    template <class Fits, class Then>
    bool remove_all(EntryList& list, Fits fits, Then then) {
        bool any = false;
        for (std::uint32_t at; (at = remove_first(list, fits)) != no_entry; any = true) then(at);
        return any;
    }
    std::uint32_t pop_front(EntryList& list) {
        return remove_first(list, [](const Entry&) { return true; });
    }
    std::uint32_t remove(EntryList& list, std::uint32_t index) {
        const std::uint64_t id = entries_[index].id;
        return remove_first(list, [id](const Entry& entry) { return entry.id == id; });
    }

  private:
    /// The low bits of an id are its place, and above them is the number of its takes and returns.
    static constexpr std::uint64_t used_step = std::uint64_t{1} << 24;
    static bool is_used(std::uint64_t id) { return (id / used_step) % 2 == 1; }

    void add_place() {
        const auto index = static_cast<std::uint32_t>(entries_.size());
        entries_.emplace_back().id = index;
        entries_[index].next = free_;
        free_ = index;
    }

    std::vector<Entry> entries_;
    std::uint32_t free_ = no_entry;
};

}  // namespace gradcoll
