/* shim/fortran_sentinels.h - MPI_IN_PLACE and MPI_BOTTOM of Open MPI's Fortran. */
#ifndef GRADCOLL_SHIM_FORTRAN_SENTINELS_H
#define GRADCOLL_SHIM_FORTRAN_SENTINELS_H

/* Returns what C would pass for this buffer: its own sentinels instead of the addresses of
 * Fortran's. */
const void* c_buffer(const void* buffer);

#endif
