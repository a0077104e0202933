// nic/news.hpp - how a rank sleeps until its agent has something new for it.
#pragma once

#include <chrono>
#include <cstdint>

#include "nic/layout.hpp"

namespace gradcoll {

/// Is called by the agent after it has written what is new. It is a call of the system only if the
/// rank sleeps.
void tell_news(const NicLayout& layout);

/// Returns how much news there has been. The rank that asks sees what it looks at afterwards as new
/// as that.
std::uint32_t news_of(const NicLayout& layout);
/// Sleeps until there is more news than `seen`, `patience` at most. Returns true if there is.
/// Thread safe.
bool wait_for_news(const NicLayout& layout, std::uint32_t seen, std::chrono::microseconds patience);

}  // namespace gradcoll
