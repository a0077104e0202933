/* tests/shim/sessions.c - a program that makes its communicator by a session, without MPI_Init. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int ranks, rank, sum = 0;
    const int one = 1;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "gradcoll.sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                               &comm);
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 100; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Barrier(comm);
    if (rank == 0 && sum == ranks) printf("sessions: right\n");
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return sum != ranks;
}
