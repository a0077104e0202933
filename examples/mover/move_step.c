/* Carries plans of `gradcoll move` out, with work in place of a model: what an operator makes it
 * writes, what it uses it reads back and compares, to the last byte, and then it computes for as
 * long as the plan says.
 *
 *   gradcoll move --model examples/mover/one-gib.json --parallel micro_batches=1 \
 *     --cluster examples/mover/plain-memory.json --device-memory 600MiB --out moved.json
 *   gradcoll move ... --device-memory 2GiB --out unmoved.json
 *   mpirun -n 1 move_step 5 1.0 unmoved.json moved.json
 *
 * usage: move_step STEPS SPEED PLAN...     SPEED 2: operators take half as long as planned
 * Plans take turns, a step each. Exit status 1 if a byte was wrong. */
#include <gradcoll/gradcoll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_plans = 8, most_steps = 1000 };

static volatile uint64_t sink;

static void work(double rounds) {
    uint64_t x = 88172645463325252U;
    for (double n = 0; n < rounds; n += 64)
        for (int k = 0; k < 64; ++k) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
    sink = x;
}

/* Returns the rounds of work() in a microsecond: the best of several, so that work is fixed and its
 * time varies, as a real operator's does. */
static double calibrate(void) {
    double best = 0;
    for (int n = 0; n < 20; ++n) {
        const double begin = MPI_Wtime();
        work(4e6);
        const double rate = 4e6 / ((MPI_Wtime() - begin) * 1e6);
        if (rate > best) best = rate;
    }
    return best;
}

static uint64_t word_of(uint64_t seed, MPI_Count index) {
    return (seed + (uint64_t)index) * 0x9E3779B97F4A7C15U;
}

static void write_tensor(unsigned char* data, MPI_Count bytes, uint64_t seed) {
    uint64_t* words = (uint64_t*)(void*)data;
    for (MPI_Count n = 0; n < bytes / 8; ++n) words[n] = word_of(seed, n);
    for (MPI_Count n = bytes / 8 * 8; n < bytes; ++n) data[n] = (unsigned char)seed;
}

static int is_right(const unsigned char* data, MPI_Count bytes, uint64_t seed) {
    const uint64_t* words = (const uint64_t*)(const void*)data;
    uint64_t differs = 0;
    for (MPI_Count n = 0; n < bytes / 8; ++n) differs |= words[n] ^ word_of(seed, n);
    for (MPI_Count n = bytes / 8 * 8; n < bytes; ++n) differs |= data[n] ^ (unsigned char)seed;
    return differs == 0;
}

static void must(int code) {
    char text[GC_MAX_ERROR_STRING];
    if (code == MPI_SUCCESS) return;
    GC_Error_string(code, text, NULL);
    fprintf(stderr, "move_step: %s\n", text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

typedef struct Plan {
    GC_Mover mover;
    int operators, tensors;
    double step_us[most_steps];
} Plan;

/* Writes or compares the tensors that `op` is the first or the last to use. */
static int touch(const Plan* plan, int op, uint64_t step) {
    int right = 1;
    for (int t = 0; t < plan->tensors; ++t) {
        GC_Mover_tensor tensor;
        void* data = NULL;
        const uint64_t seed = step * 1000003U + (uint64_t)t;
        must(GC_Mover_get_tensor(plan->mover, t, &tensor));
        if (tensor.stays || (tensor.first_use != op && tensor.last_use != op)) continue;
        must(GC_Mover_get_data(plan->mover, t, &data));
        if (tensor.first_use == op) write_tensor(data, tensor.bytes, seed);
        if (tensor.last_use == op && !is_right(data, tensor.bytes, seed)) {
            fprintf(stderr, "move_step: wrong bytes in %s %s\n", tensor.layer, tensor.name);
            right = 0;
        }
    }
    return right;
}

static int run_step(const Plan* plan, uint64_t step, double rounds_a_us, double speed) {
    int right = 1;
    must(GC_Mover_step_begin(plan->mover));
    for (int op = 0; op < plan->operators; ++op) {
        GC_Mover_operator described;
        must(GC_Mover_get_operator(plan->mover, op, &described));
        must(GC_Mover_op_begin(plan->mover, op));
        const double begin = MPI_Wtime();
        right &= touch(plan, op, step);
        const double touched_us = (MPI_Wtime() - begin) * 1e6;
        const double left_us =
            (described.planned_end_us - described.planned_begin_us) / speed - touched_us;
        if (left_us > 0) work(left_us * rounds_a_us);
        must(GC_Mover_op_end(plan->mover, op));
    }
    must(GC_Mover_step_end(plan->mover));
    return right;
}

static int by_size(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

int main(int argc, char** argv) {
    static Plan plans[most_plans];
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int steps = argc > 3 ? atoi(argv[1]) : 0, count = argc - 3;
    const double speed = argc > 3 ? atof(argv[2]) : 0;
    if (steps < 1 || steps > most_steps || speed <= 0 || count > most_plans) {
        fprintf(stderr, "usage: move_step STEPS SPEED PLAN...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int p = 0; p < count; ++p) {
        must(GC_Mover_create(MPI_COMM_WORLD, argv[3 + p], 0, &plans[p].mover));
        must(GC_Mover_count(plans[p].mover, &plans[p].operators, &plans[p].tensors));
    }
    const double rounds_a_us = calibrate();
    int right = 1;
    for (int step = 0; step < steps; ++step)
        for (int p = 0; p < count; ++p) {
            GC_Mover_stats stats;
            right &= run_step(&plans[p], (uint64_t)step, rounds_a_us, speed);
            must(GC_Mover_get_stats(plans[p].mover, &stats));
            plans[p].step_us[step] = stats.measured_step_us;
        }
    printf("%-24s %10s %10s %10s %10s %8s %6s %9s %8s\n", "plan", "planned", "step", "device",
           "peak", "moved", "waits", "waited", "overlap");
    for (int p = 0; p < count; ++p) {
        GC_Mover_stats stats;
        must(GC_Mover_get_stats(plans[p].mover, &stats));
        qsort(plans[p].step_us, (size_t)steps, sizeof(double), by_size);
        printf("%-24s %7.1f ms %7.1f ms %6.0f MiB %6.0f MiB %4.0f MiB %6d %6.2f ms %6.2f %%\n",
               argv[3 + p], stats.planned_step_us / 1e3, plans[p].step_us[steps / 2] / 1e3,
               (double)stats.device_bytes / 1048576, (double)stats.peak_bytes / 1048576,
               (double)stats.moved_bytes / 1048576,
               (int)(stats.waits_for_tensors + stats.waits_for_memory),
               (stats.waited_for_tensors_us + stats.waited_for_memory_us) / 1e3,
               100 * stats.overlap);
        must(GC_Mover_free(&plans[p].mover));
    }
    printf("bytes: %s\n", right ? "right" : "WRONG");
    MPI_Finalize();
    return right ? 0 : 1;
}
