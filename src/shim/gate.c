/* shim/gate.c - finds out which MPI the program runs, and loads the core if it is ours. */
#define _GNU_SOURCE
#include "shim/gate.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "shim/mpi_version.h"
#include "shim/next.h"
#include "shim/speaker.h"

GC_Gate gate;
_Thread_local const char* inside;
bool look_is_due;
_Thread_local GC_Passed_call last_passed;

static const GC_Interposer_table* _Atomic table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Loads the core by its soname, so that a program that links libgradcoll itself shares it; else our
 * RUNPATH finds it. */
static const char core_soname[] = "libgradcoll.so." GC_CORE_SOVERSION;

static const GC_Interposer_table* connect_to_core(void) {
    void* const library = dlopen(core_soname, RTLD_NOW | RTLD_LOCAL);
    GC_Interposer_connect_function connect_core = NULL;
    if (library != NULL) {
        *(void**)&connect_core = dlsym(library, "GC_Interposer_connect");
    }
    if (connect_core == NULL) {
        const char* const why = dlerror();
        speak("%s: inactive", why != NULL ? why : "libgradcoll has no GC_Interposer_connect");
        return NULL;
    }
    return connect_core(GC_INTERPOSER_VERSION, &gate); /* the core says why, if it has to */
}

/* Returns whether the program's MPI_Wait is ours, and not that of a tool before us. */
static int sees_completions(void) {
    Dl_info found, ours;
    void* const wait = dlsym(RTLD_DEFAULT, "MPI_Wait");
    return wait != NULL && dladdr(wait, &found) != 0 && dladdr(&gate, &ours) != 0 &&
           found.dli_fbase == ours.dli_fbase;
}

/* Returns whether there is an MPI_COMM_WORLD, of which the core is a part: programs of MPI_Session
 * have communicators without one. */
static bool has_world(void) {
    int (*initialized)(int* flag) = NULL;
    int flag = 0;
    *(void**)&initialized = find_symbol("PMPI_Initialized");
    return initialized == NULL || initialized(&flag) != 0 || flag != 0;
}

static const GC_Interposer_table* connect_if_ours(void) {
    char running[RUNNING_MPI_BYTES];
    gate.sees_completions = sees_completions();
    if (running_mpi_is_ours(running)) {
        if (!has_world()) {
            speak(
                "the program has communicators of MPI_Session, and did not call MPI_Init before it "
                "used one: inactive, all its calls pass");
            return NULL;
        }
        const GC_Interposer_table* const core = connect_to_core();
        if (core != NULL) speak_of_uncovered();
        return core;
    }
    speak(
        "this interposer was built for %s %d%s%s%s, the program runs %s: inactive; preload the one "
        "built for it",
        built_for.family, built_for.major, built_for.soname[0] != '\0' ? " (" : "",
        built_for.soname, built_for.soname[0] != '\0' ? ")" : "", running);
    return NULL;
}

static void decide(void) {
    const GC_Interposer_table* const found = connect_if_ours();
    if (found == NULL) {
        for (int kind = 0; kind < GC_CALL_KINDS; ++kind) {
            __atomic_store_n(&gate.least_count[kind], INT64_MAX, __ATOMIC_RELAXED);
        }
    }
    atomic_store_explicit(&table, found, memory_order_release);
}

/* What is wrong is said when the core is looked for again, after MPI_Init. */
void announce_core(void) {
    char running[RUNNING_MPI_BYTES];
    GC_Interposer_announce_function announce = NULL;
    void* library = NULL;
    if (!running_mpi_is_ours(running)) return;
    library = dlopen(core_soname, RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) *(void**)&announce = dlsym(library, "GC_Interposer_announce");
    dlerror();
    if (announce != NULL) announce(GC_INTERPOSER_VERSION);
}

const GC_Interposer_table* find_core(void) {
    pthread_once(&once, decide);
    return loaded_core();
}

const GC_Interposer_table* loaded_core(void) {
    return atomic_load_explicit(&table, memory_order_acquire);
}
