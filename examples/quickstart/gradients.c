/* Gradients of a training step, summed while the step goes on: each is handed in when it is ready,
 * in whatever order this rank comes to it, and waited for before the optimizer needs it.
 *   mpicc gradients.c -lgradcoll -o gradients && mpirun -n 4 ./gradients */
#include <gradcoll.h>
#include <stdio.h>
#include <stdlib.h>

enum { layers = 8, elements = 1 << 18, steps = 3 };

int main(int argc, char** argv) {
    int threads = 0, rank = 0, ranks = 0, wrong = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    GC_Engine engine = GC_ENGINE_NULL;
    GC_Engine_create(MPI_COMM_WORLD, MPI_INFO_NULL, &engine);
    float* gradients = calloc((size_t)layers * elements, sizeof(float));
    if (gradients == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < steps; ++step) {
        GC_Handle handles[layers];
        for (int i = 0; i < layers; ++i) {
            const int layer =
                (layers - 1 - i + rank) % layers; /* every rank has an order of its own */
            float* gradient = gradients + (size_t)layer * elements;
            char name[32];
            for (int e = 0; e < elements; ++e)
                gradient[e] = (float)(rank + layer); /* backward pass */
            snprintf(name, sizeof name, "layer.%d", layer);
            GC_Submit(engine, name, MPI_IN_PLACE, gradient, elements, MPI_FLOAT, MPI_SUM,
                      layers - layer,
                      &handles[layer]); /* the next forward pass needs layer 0 first */
        }
        for (int layer = 0; layer < layers; ++layer) { /* optimizer */
            GC_Handle_wait(&handles[layer]);
            wrong += gradients[(size_t)layer * elements] !=
                     (float)(ranks * (ranks - 1) / 2 + ranks * layer);
        }
    }
    GC_Engine_free(&engine);
    free(gradients);
    if (rank == 0)
        printf("%d steps of %d gradients: %s\n", steps, layers, wrong == 0 ? "right" : "WRONG");
    MPI_Finalize();
    return wrong != 0;
}
