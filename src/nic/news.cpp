#include "nic/news.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace gradcoll {

/// Raises the count and wakes the rank. Both sides write their own word, and then look at the
/// other's: one of them sees the other.
void tell_news(const NicLayout& layout) {
    std::atomic<std::uint32_t>& news = layout.agent().news;
    news.fetch_add(1, std::memory_order_seq_cst);
    if (layout.rank().sleepers.load(std::memory_order_seq_cst) != 0)
        syscall(SYS_futex, &news, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::uint32_t news_of(const NicLayout& layout) {
    return layout.agent().news.load(std::memory_order_seq_cst);
}

bool wait_for_news(const NicLayout& layout, std::uint32_t seen,
                   std::chrono::microseconds patience) {
    const timespec longest{0, static_cast<long>(patience.count() * 1000)};
    layout.rank().sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (news_of(layout) == seen)
        syscall(SYS_futex, &layout.agent().news, FUTEX_WAIT, seen, &longest, nullptr, 0);
    layout.rank().sleepers.fetch_sub(1, std::memory_order_seq_cst);
    return news_of(layout) != seen;
}

}  // namespace gradcoll
