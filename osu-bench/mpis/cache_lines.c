/* osu-bench/mpis/cache_lines.c - measures the lower bound of every exchange between two ranks of a
 * host, and whether it changes with time.
 *
 * usage: cache_lines [SECONDS]
 *
 * Ten times a second, for SECONDS (default 0: once), two threads on the first two cores that this
 * process may use measure
 *   - there and back: one writes a cache line, the other answers in another one. No allreduce of
 *     two ranks can take less than half of it: each must see a line that the other wrote;
 *   - read: how fast one core reads 256 KiB that the other has just written.
 * Each time it prints a row, `seconds,there_and_back_ns,read_gb_s`. In a virtual machine both
 * change when the host moves its cores: two threads of one core, two cores of one cache, two
 * caches. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { turns = 10000, copies = 16, copy_bytes = 256 << 10 };

typedef struct {
    _Alignas(128) atomic_int value;
} Line;

static Line asked, answered;
static int cores[2];
static char written[copy_bytes], own[copy_bytes];

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void set(Line* line, int value) {
    atomic_store_explicit(&line->value, value, memory_order_release);
}

static void await(Line* line, int value) {
    while (atomic_load_explicit(&line->value, memory_order_acquire) != value) continue;
}

static int find_cores(void) {
    cpu_set_t allowed;
    int found = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
    for (int core = 0; core < CPU_SETSIZE && found < 2; ++core)
        if (CPU_ISSET(core, &allowed)) cores[found++] = core;
    return found == 2;
}

static void pin_to(int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

/* Answers each question, and writes its data before each of the last answers. */
static void* answer(void* unused) {
    (void)unused;
    pin_to(cores[1]);
    for (int turn = 1; turn <= turns + copies; ++turn) {
        await(&asked, turn);
        if (turn > turns) memset(written, turn, sizeof written);
        set(&answered, turn);
    }
    return NULL;
}

static void measure(double* there_and_back_ns, double* read_gb_s) {
    pthread_t other;
    double reading_us = 0;
    set(&asked, 0);
    set(&answered, 0);
    if (pthread_create(&other, NULL, answer, NULL) != 0) exit(1);
    set(&asked, 1);
    await(&answered, 1);
    const double begin = now_us();
    for (int turn = 2; turn <= turns; ++turn) {
        set(&asked, turn);
        await(&answered, turn);
    }
    *there_and_back_ns = (now_us() - begin) / (turns - 1) * 1e3;
    for (int turn = turns + 1; turn <= turns + copies; ++turn) {
        set(&asked, turn);
        await(&answered, turn);
        const double begin_read = now_us();
        memcpy(own, written, sizeof own);
        reading_us += now_us() - begin_read;
    }
    pthread_join(other, NULL);
    *read_gb_s = (double)copies * copy_bytes / reading_us / 1e3;
}

int main(int argc, char** argv) {
    const double seconds = argc > 1 ? atof(argv[1]) : 0;
    const double begin = now_us();
    const struct timespec pause = {0, 100000000};
    if (!find_cores()) {
        fprintf(stderr, "cache_lines: needs two cores\n");
        return 2;
    }
    pin_to(cores[0]);
    memset(own, 1, sizeof own);
    do {
        double there_and_back_ns = 0, read_gb_s = 0;
        measure(&there_and_back_ns, &read_gb_s);
        printf("%.1f,%.0f,%.1f\n", (now_us() - begin) / 1e6, there_and_back_ns, read_gb_s);
        if (seconds > 0) nanosleep(&pause, NULL);
    } while (now_us() - begin < seconds * 1e6);
    return 0;
}
