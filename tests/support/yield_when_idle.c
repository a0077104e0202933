/* tests/support/yield_when_idle.c - preloaded by scripts/mpirun under MPICH (device ch4:ucx), which waits without ever
 * giving its core away: with more ranks than cores every message then costs time slices of those that wait. This yields
 * whenever a round of progress found nothing, as Open MPI does with mpi_yield_when_idle. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

typedef unsigned (*Progress)(void* worker);

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker);

unsigned ucp_worker_progress(void* worker) {
    static Progress next;
    Progress progress = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (progress == 0) {
        *(void**)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
        __atomic_store_n(&next, progress, __ATOMIC_RELAXED);
    }
    const unsigned events = progress(worker);
    if (events == 0) sched_yield();
    return events;
}
