/* shim/fortran_buffers.h - buffers of Fortran as C would pass them: addresses, which may be those
 * of MPI_IN_PLACE and MPI_BOTTOM; and, with Open MPI 6, descriptors: TYPE(*), DIMENSION(..), of TS
 * 29113, which may be sections of arrays, with gaps. */
#ifndef GRADCOLL_SHIM_FORTRAN_BUFFERS_H
#define GRADCOLL_SHIM_FORTRAN_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns what C would pass for this buffer: its own sentinels instead of the addresses of
 * Fortran's. */
const void* c_buffer(const void* buffer);

enum { MOST_DIMENSIONS = 15 };

typedef struct {
    char* base; /* the first element, which with a negative stride is not the lowest address */
    size_t element_bytes;
    int rank;
    bool has_gaps;
    ptrdiff_t extents[MOST_DIMENSIONS];
    ptrdiff_t strides_bytes[MOST_DIMENSIONS];
} Section;

/* Reads a descriptor. Its form is the compiler's own, which need not be that of a C descriptor:
 * gfortran's and flang's are known. Returns false for others, so that the call is left to
 * the MPI library; says so once. All ranks of a program have one compiler. */
bool read_section(const void* descriptor, Section* section);

typedef enum { NO_COPIES, MAY_COPY } Copies;

/* A Lent buffer is what C gets for a descriptor: the section itself, or its elements without the
 * gaps. */
typedef struct {
    const void* buffer; /* MPI_IN_PLACE and MPI_BOTTOM are C's */
    Section section;
    void* copy; /* null if there is none */
} Lent;

/* Returns false if the form is not known, or if the section has gaps and must not be copied (a
 * request outlives its call). `lent` must be given back. Null stands for no buffer. */
bool lend(const void* descriptor, Copies copies, Lent* lent);

/* Writes the elements back if the call has changed them. */
void give_back(Lent* lent, bool has_changed);

#endif
