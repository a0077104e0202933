/* tests/faults/faulty.c - a plain MPI program whose last rank has a fault at one of its calls; each
 * rank that gets to the end says in a line how its calls ended. Knows nothing of Gradcoll.
 * Arguments: PATH FAULT CALL: one of `calls_of`; one of `faults`; 0 to 5. Where FAULTY_VECTORS
 * names the library of device_vectors.cpp, calls have their vectors in a device's memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { longest = 100000, calls = 6 };
static float in[longest], out[longest];
static int rank, ranks;

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define INIT MPIX_Allreduce_init
#else
#define INIT MPI_Allreduce_init
#endif

/* One call, as its rank makes it. */
struct call {
    const void* in;
    void* out;
    int count;
    MPI_Datatype type;
    MPI_Op op;
};

/* From one to the other, wherever they are; set where vectors are in a device's memory. */
static void (*device_copy)(void* to, const void* from, size_t size);

static void copy(void* to, const void* from) {
    if (device_copy != NULL)
        device_copy(to, from, sizeof in);
    else
        memcpy(to, from, sizeof in);
}

static void limit(int what, rlim_t most) {
    const struct rlimit limits = {most, most};
    if (setrlimit(what, &limits) != 0) abort();
}

static rlim_t address_space(void) {
    size_t pages = 0;
    FILE* const file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%zu", &pages) != 1) abort();
    fclose(file);
    return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* The clock of the day, as this process and its libraries see it; others do not jump. */
static long jumped_s;

int clock_gettime(clockid_t clock, struct timespec* now) {
    const long code = syscall(SYS_clock_gettime, clock, now);
    if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += jumped_s;
    return (int)code;
}
int gettimeofday(struct timeval* restrict now, void* restrict zone) {
    (void)zone;
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}
time_t time(time_t* also) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (also != NULL) *also = exact.tv_sec;
    return exact.tv_sec;
}

static int open_files(void) {
    const int next = dup(0);
    close(next);
    return next;
}

static void die_killed(struct call* call) {
    (void)call;
    raise(SIGKILL);
}
static void leave(struct call* call) {
    (void)call;
    _exit(3);
}
static void stop(struct call* call) {
    (void)call;
    raise(SIGSTOP);
}
static void null_input(struct call* call) {
    call->in = NULL;
}
/* It holds the input: who takes it for a call in place is right, too. */
static void output_as_input(struct call* call) {
    copy(call->out, call->in);
    call->in = call->out;
}
static void fewer(struct call* call) {
    call->count = longest / 2;
}
static void another_type(struct call* call) {
    call->type = MPI_INT;
}
static void another_op(struct call* call) {
    call->op = MPI_MAX;
}
static void little_memory(struct call* call) {
    (void)call;
    limit(RLIMIT_AS, address_space() + (1 << 20));
}
static void no_files(struct call* call) {
    (void)call;
    limit(RLIMIT_NOFILE, (rlim_t)open_files());
}
static void full_disk(struct call* call) {
    (void)call;
    signal(SIGXFSZ, SIG_IGN);
    limit(RLIMIT_FSIZE, 0);
}
static void no_locked_memory(struct call* call) {
    (void)call;
    limit(RLIMIT_MEMLOCK, 0);
}
static void a_day_back(struct call* call) {
    (void)call;
    jumped_s -= 24 * 3600;
}
static void a_day_on(struct call* call) {
    (void)call;
    jumped_s += 24 * 3600;
}
/* Whose end runs what libraries have registered for the end of the process. */
static void a_child(struct call* call) {
    (void)call;
    if (fork() == 0) exit(0);
}
static void die_now(int number) {
    (void)number;
    raise(SIGKILL);
}
/* Somewhere within the call. */
static void die_after(struct call* call, long microseconds) {
    (void)call;
    const struct itimerval soon = {{0, 0}, {0, microseconds}};
    signal(SIGALRM, die_now);
    setitimer(ITIMER_REAL, &soon, NULL);
}
static void die_at_once(struct call* call) {
    die_after(call, 20);
}
static void die_midway(struct call* call) {
    die_after(call, 200);
}
static void die_late(struct call* call) {
    die_after(call, 1000);
}
static void nothing(struct call* call) {
    (void)call;
}

static const struct fault {
    const char* name;
    void (*strike)(struct call* call);
} faults[] = {{"none", nothing},
              {"kill", die_killed},
              {"exit", leave},
              {"stop", stop},
              {"null", null_input},
              {"alias", output_as_input},
              {"count", fewer},
              {"type", another_type},
              {"op", another_op},
              {"memory", little_memory},
              {"files", no_files},
              {"disk", full_disk},
              {"locked", no_locked_memory},
              {"back", a_day_back},
              {"on", a_day_on},
              {"fork", a_child},
              {"20 us", die_at_once},
              {"200 us", die_midway},
              {"1 ms", die_late}};

static void (*find_fault(const char* name))(struct call*) {
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i)
        if (strcmp(name, faults[i].name) == 0) return faults[i].strike;
    fprintf(stderr, "faulty: no fault is called %s\n", name);
    exit(2);
}

static int complete(MPI_Request* request, int code) {
    return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

static int blocking(const struct call* c, MPI_Comm comm) {
    return MPI_Allreduce(c->in, c->out, c->count, c->type, c->op, comm);
}
static int nonblocking(const struct call* c, MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    return complete(&request,
                    MPI_Iallreduce(c->in, c->out, c->count, c->type, c->op, comm, &request));
}
static int persistent(const struct call* c, MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = INIT(c->in, c->out, c->count, c->type, c->op, comm, MPI_INFO_NULL, &request);
    if (code == MPI_SUCCESS) code = complete(&request, MPI_Start(&request));
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    return code;
}
static int scatter(const struct call* c, MPI_Comm comm) {
    return MPI_Reduce_scatter_block(c->in, c->out, c->count / ranks, c->type, c->op, comm);
}
static int gather(const struct call* c, MPI_Comm comm) {
    return MPI_Allgather(c->in, c->count / ranks, c->type, c->out, longest / ranks, MPI_FLOAT,
                         comm);
}

/* No codec loses anything of it. */
static float sparse(int element, int value) {
    return element % 16 == 0 ? (float)value : 0;
}

static int is_sum(int i, int first) {
    return out[i] == sparse(first + i, ranks * (ranks + 1) / 2);
}
static int is_right_sum(void) {
    int is_right = 1;
    for (int i = 0; i < longest; ++i) is_right = is_right && is_sum(i, 0);
    return is_right;
}
static int is_right_block(void) {
    const int block = longest / ranks;
    int is_right = 1;
    for (int i = 0; i < block; ++i) is_right = is_right && is_sum(i, rank * block);
    return is_right;
}
static int is_right_gathering(void) {
    const int block = longest / ranks;
    int is_right = 1;
    for (int i = 0; i < block * ranks; ++i)
        is_right = is_right && out[i] == sparse(i % block, i / block + 1);
    return is_right;
}

static const struct path {
    const char* name;
    int (*make)(const struct call* call, MPI_Comm comm);
    int (*is_right)(void);
} calls_of[] = {{"blocking", blocking, is_right_sum},
                {"nonblocking", nonblocking, is_right_sum},
                {"persistent", persistent, is_right_sum},
                {"scatter", scatter, is_right_block},
                {"gather", gather, is_right_gathering}};

static const struct path* find_path(const char* name) {
    for (size_t i = 0; i < sizeof calls_of / sizeof *calls_of; ++i)
        if (strcmp(name, calls_of[i].name) == 0) return &calls_of[i];
    fprintf(stderr, "faulty: no path is called %s\n", name);
    exit(2);
}

/* Two vectors on the device; false if they are to be on the host. */
static int find_device(float** device_in, float** device_out) {
    const char* const path = getenv("FAULTY_VECTORS");
    if (path == NULL) return 0;
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "faulty: %s\n", dlerror());
        exit(2);
    }
    void* (*device_vector)(size_t size) = NULL;
    *(void**)&device_vector = dlsym(library, "device_vector");
    *(void**)&device_copy = dlsym(library, "device_copy");
    *device_in = device_vector(sizeof in);
    *device_out = device_vector(sizeof out);
    return 1;
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* launchers do not end ranks that are stopped */
    const struct path* const path = find_path(argv[1]);
    void (*const strike)(struct call*) = find_fault(argv[2]);
    const int struck = atoi(argv[3]);
    int level = 0, right = 0, wrong = 0, errors = 0, length = 0;
    char first[MPI_MAX_ERROR_STRING] = "";
    MPI_Comm comm;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                            MPI_ERRORS_RETURN); /* Open MPI raises some errors there */
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    /* Connections are made when they are needed first: all are here before anything happens. */
    MPI_Alltoall(in, longest / ranks, MPI_FLOAT, out, longest / ranks, MPI_FLOAT, comm);
    float *call_in = in, *call_out = out;
    const int on_device = find_device(&call_in, &call_out);
    for (int number = 0; number < calls; ++number) {
        struct call call = {call_in, call_out, longest, MPI_FLOAT, MPI_SUM};
        for (int i = 0; i < longest; ++i) in[i] = sparse(i, rank + 1), out[i] = -1;
        if (on_device) copy(call_in, in), copy(call_out, out);
        if (rank == ranks - 1 && number == struck) strike(&call);
        const int code = path->make(&call, comm);
        if (on_device) copy(out, call_out);
        const int is_right = path->is_right();
        if (code != MPI_SUCCESS && errors++ == 0) MPI_Error_string(code, first, &length);
        if (code == MPI_SUCCESS) ++*(is_right ? &right : &wrong);
    }
    for (char* at = first; *at; ++at)
        if (*at == '\n') *at = ' ';
    printf("faulty: rank %d: %d right, %d wrong, %d errors: %s\n", rank, right, wrong, errors,
           first);
    fflush(stdout);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
