/* shim/described_mpi.c - carries out the calls of described_mpi.F90 through PMPI_ functions. As
 * Open MPI's does, it refuses sections with gaps. Its library's name begins with libmpi, and it has
 * two names that no interposer knows yet. */
#include <ISO_Fortran_binding.h>
#include <mpi.h>
#include <stdint.h>
#if !GC_MPI_HAS_ALLREDUCE_INIT
#include <mpi-ext.h>
#define PMPI_Allreduce_init PMPIX_Allreduce_init
#endif

extern int mpi_fortran_in_place_;

static void* buffer_of(const CFI_cdesc_t* descriptor) {
    return descriptor->base_addr == &mpi_fortran_in_place_ ? MPI_IN_PLACE : descriptor->base_addr;
}

static int has_gaps(const CFI_cdesc_t* descriptor) {
    return descriptor->rank != 0 && !CFI_is_contiguous(descriptor);
}

void described_reduction(int which, const CFI_cdesc_t* sendbuf, CFI_cdesc_t* recvbuf,
                         int64_t long_count, MPI_Fint f_type, MPI_Fint f_op, MPI_Fint f_comm,
                         int root, MPI_Fint* f_request, int* code) {
    const int count = (int)long_count;
    const MPI_Comm comm = PMPI_Comm_f2c(f_comm);
    const MPI_Datatype type = PMPI_Type_f2c(f_type);
    const MPI_Op op = which == 2 || which == 3 ? MPI_OP_NULL : PMPI_Op_f2c(f_op);
    void *const send = buffer_of(sendbuf), *const receive = buffer_of(recvbuf);
    MPI_Request request = MPI_REQUEST_NULL;
    *code = MPI_ERR_INTERN;
    if (has_gaps(sendbuf) || has_gaps(recvbuf)) return;
    switch (which) {
        case 0:
            *code = PMPI_Allreduce(send, receive, count, type, op, comm);
            break;
        case 1:
            *code = PMPI_Reduce_scatter_block(send, receive, count, type, op, comm);
            break;
        case 2:
            *code = PMPI_Allgather(send, count, type, receive, count, type, comm);
            break;
        case 3:
            *code = PMPI_Bcast(receive, count, type, root, comm);
            break;
        case 4:
            *code = PMPI_Reduce(send, receive, count, type, op, root, comm);
            break;
        case 5:
            *code = PMPI_Iallreduce(send, receive, count, type, op, comm, &request);
            *f_request = PMPI_Request_c2f(request);
            break;
        default:
            *code =
                PMPI_Allreduce_init(send, receive, count, type, op, comm, MPI_INFO_NULL, &request);
            *f_request = PMPI_Request_c2f(request);
    }
}

/* A call of mpi_f08 with large counts and without descriptors. */
void mpi_allreduce_c_f08_(const void* sendbuf, void* recvbuf, const int64_t* count,
                          const MPI_Fint* type, const MPI_Fint* op, const MPI_Fint* comm,
                          int* code);
void mpi_allreduce_c_f08_(const void* sendbuf, void* recvbuf, const int64_t* count,
                          const MPI_Fint* type, const MPI_Fint* op, const MPI_Fint* comm,
                          int* code) {
    const int result = PMPI_Allreduce(sendbuf, recvbuf, (int)*count, PMPI_Type_f2c(*type),
                                      PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm));
    if (code != NULL) *code = result;
}

/* These are names of a time to come, and some that stand for other calls. */
void MPI_Allreduce_x(void);
void MPI_Allreduce_x(void) {}
void mpi_bcast_f29_(void);
void mpi_bcast_f29_(void) {}
void MPI_Bcast_init_x(void);
void MPI_Bcast_init_x(void) {}
void mpi_allreducev_(void);
void mpi_allreducev_(void) {}
