#include "nic/shared_region.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <utility>

namespace gradcoll {
namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Status failed(const char* step, std::size_t size_bytes) {
    const Code code = errno == ENOMEM || errno == ENOSPC ? Code::out_of_memory : Code::io;
    return {code, fmt::format("memory shared with the NIC agent, {} bytes: {}: {}", size_bytes,
                              step, std::strerror(errno))};
}

#ifdef MADV_POPULATE_WRITE
constexpr int populate_write = MADV_POPULATE_WRITE;
#else
constexpr int populate_write = 23;  // Linux 5.14
#endif

}  // namespace

SharedRegion::SharedRegion(SharedRegion&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), layout_(other.layout_) {}

SharedRegion& SharedRegion::operator=(SharedRegion&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(layout_, other.layout_);
    return *this;
}

SharedRegion::~SharedRegion() {
    if (data_ != nullptr) munmap(data_, NicLayout::size_bytes(layout_.shape()));
}

Result<SharedRegion> SharedRegion::make(const NicShape& shape, Descriptor& file) {
    const std::size_t size = NicLayout::size_bytes(shape);
    file = Descriptor(memfd_create("gradcoll-nic", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file.is_open()) return failed("memfd_create", size);
    if (ftruncate(file.number(), static_cast<off_t>(size)) != 0) return failed("ftruncate", size);
    if (fcntl(file.number(), F_ADD_SEALS, seals) != 0) return failed("F_ADD_SEALS", size);
    return map(shape, file);
}

Result<SharedRegion> SharedRegion::map(const NicShape& shape, const Descriptor& file) {
    GRADCOLL_TRY(shape.check());
    const std::size_t size = NicLayout::size_bytes(shape);
    struct stat facts {};
    if (fstat(file.number(), &facts) != 0) return failed("fstat", size);
    const int found = fcntl(file.number(), F_GET_SEALS);
    if (found < 0 || (found & seals) != seals || facts.st_size != static_cast<off_t>(size))
        return Status(Code::corrupt,
                      fmt::format("memory shared with the NIC agent: {} bytes, seals {:#x}; "
                                  "expected {} bytes with seals {:#x}",
                                  facts.st_size, found, size, seals));
    void* data =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.number(), 0);
    if (data == MAP_FAILED) return failed("mmap", size);
    return SharedRegion(static_cast<std::byte*>(data), shape);
}

/// Allocates the slots. An older kernel knows no such advice: there the slots are allocated when
/// they are touched.
Status SharedRegion::allocate_slots(NicSlots which, std::uint32_t peer) const {
    const NicShape& shape = layout_.shape();
    const std::size_t size = std::size_t{shape.slots} * shape.slot_bytes;
    if (madvise(layout_.slot(which, peer, 0), size, populate_write) == 0 || errno == EINVAL)
        return {};
    return failed("allocate", size);
}

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
