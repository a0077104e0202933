// Stand-ins for functions of the C library that allocate or lock: they report and do what they
// stand for. glibc exports its allocator under second names; the locks are looked up.
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "support/watched_calls.hpp"

using gradcoll::test::note_call;

// The names are glibc's and POSIX's, not ours to choose.
// NOLINTBEGIN
#define GC_STANDS_IN extern "C" __attribute__((visibility("default")))

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

GC_STANDS_IN void* malloc(std::size_t size) {
    note_call("malloc");
    return __libc_malloc(size);
}
GC_STANDS_IN void* calloc(std::size_t count, std::size_t size) {
    note_call("calloc");
    return __libc_calloc(count, size);
}
GC_STANDS_IN void* realloc(void* memory, std::size_t size) {
    note_call("realloc");
    return __libc_realloc(memory, size);
}
GC_STANDS_IN void free(void* memory) {
    if (memory != nullptr) note_call("free");
    __libc_free(memory);
}
GC_STANDS_IN void* memalign(std::size_t alignment, std::size_t size) {
    note_call("memalign");
    return __libc_memalign(alignment, size);
}
GC_STANDS_IN void* aligned_alloc(std::size_t alignment, std::size_t size) {
    note_call("aligned_alloc");
    return __libc_memalign(alignment, size);
}
GC_STANDS_IN int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
    note_call("posix_memalign");
    *out = __libc_memalign(alignment, size);
    return *out != nullptr ? 0 : ENOMEM;
}
GC_STANDS_IN void* mmap(void* at, std::size_t size, int protection, int flags, int file,
                        off_t offset) {
    note_call("mmap");
    return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, protection, flags, file, offset));
}

namespace {

/// Returns the function of that name behind ours.
template <class Function>
Function* behind(const char* name) {
    void* const found = dlsym(RTLD_NEXT, name);
    return reinterpret_cast<Function*>(found);
}

}  // namespace

#define GC_STANDS_IN_FOR_LOCK(name, lock_type)                   \
    GC_STANDS_IN int name(lock_type* lock) {                     \
        static const auto next = behind<int(lock_type*)>(#name); \
        note_call(#name);                                        \
        return next(lock);                                       \
    }
GC_STANDS_IN_FOR_LOCK(pthread_mutex_lock, pthread_mutex_t)
GC_STANDS_IN_FOR_LOCK(pthread_mutex_trylock, pthread_mutex_t)
GC_STANDS_IN_FOR_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
GC_STANDS_IN_FOR_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)
GC_STANDS_IN_FOR_LOCK(pthread_rwlock_tryrdlock, pthread_rwlock_t)
GC_STANDS_IN_FOR_LOCK(pthread_rwlock_trywrlock, pthread_rwlock_t)
GC_STANDS_IN_FOR_LOCK(sem_wait, sem_t)
// NOLINTEND
