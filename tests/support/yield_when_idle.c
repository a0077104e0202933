/* tests/support/yield_when_idle.c - preloaded by scripts/mpirun under MPICH (device ch4:ucx), which
 * waits without ever giving its core away: with more ranks than cores every message then costs time
 * slices of those that wait. This yields whenever a round of progress found nothing, as Open MPI
 * does with mpi_yield_when_idle. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

typedef unsigned (*Progress)(void* worker);

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker);

/* After us, or, where a program has loaded its MPI privately, in UCX itself. */
static Progress find_next(void) {
    Progress found;
    *(void**)&found = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (found == 0) {
        void* const ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
        *(void**)&found = dlsym(ucp, "ucp_worker_progress");
    }
    return found;
}

unsigned ucp_worker_progress(void* worker) {
    static Progress next;
    Progress progress = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (progress == 0) {
        progress = find_next();
        __atomic_store_n(&next, progress, __ATOMIC_RELAXED);
    }
    const unsigned events = progress(worker);
    if (events == 0) sched_yield();
    return events;
}
