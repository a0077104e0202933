/* shim/speaker.c - one line for a whole run. No other file of the interposer reads the environment:
 * this one reads the rank, as launchers tell it, because MPI may not be initialised yet. */
#include "shim/speaker.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* These are of Open MPI's mpirun, Hydra, PMIx launchers and Slurm; the outermost comes last,
 * because it may have started the launcher and not the ranks. */
static const char* const rank_variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                             "SLURM_PROCID"};

static bool is_first_process(void) {
    for (size_t i = 0; i < sizeof rank_variables / sizeof rank_variables[0]; ++i) {
        const char* const rank = getenv(rank_variables[i]);
        if (rank != NULL && *rank != '\0') return strcmp(rank, "0") == 0;
    }
    return true;
}

void speak(const char* format, ...) {
    char line[1024];
    va_list arguments;
    if (!is_first_process()) return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "gradcoll: %s\n", line);
}
