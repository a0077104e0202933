/* shim/fortran_sections.c - reads descriptors of gfortran (since 8) and flang. A procedure that is
 * not BIND(C), as MPI_Allreduce_f08ts is none, gets the compiler's own descriptor: flang's is that
 * of ISO_Fortran_binding.h, gfortran's is another. Source: gcc's libgfortran.h, llvm's
 * ISO_Fortran_binding.h. */
#define _GNU_SOURCE
#include "shim/fortran_buffers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/speaker.h"

typedef struct {
    ptrdiff_t stride, lower,
        upper; /* the stride in spans; an unknown upper end is below the lower */
} Gnu_dimension;

typedef struct {
    char* base;
    size_t offset;
    size_t element_bytes;
    int version;
    signed char rank, type;
    short attribute;
    ptrdiff_t span_bytes;
    Gnu_dimension dimensions[MOST_DIMENSIONS];
} Gnu_descriptor;

typedef struct {
    ptrdiff_t lower, extent, stride_bytes; /* an unknown extent is negative */
} Flang_dimension;

typedef struct {
    char* base;
    size_t element_bytes;
    int version;
    unsigned char rank, type, attribute, extra;
    Flang_dimension dimensions[MOST_DIMENSIONS];
} Flang_descriptor;

static bool has_gnu;
static pthread_once_t looked = PTHREAD_ONCE_INIT, said = PTHREAD_ONCE_INIT;

static void look(void) {
    void* const library = dlopen("libgfortran.so.5", RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL) dlclose(library); /* was there before and stays */
    has_gnu = library != NULL || dlsym(RTLD_DEFAULT, "_gfortran_set_options") != NULL;
    dlerror();
}

static void say(void) {
    speak(
        "this Fortran compiler's descriptors of buffers are not known (gfortran's and flang's "
        "are): "
        "its calls with such names as MPI_Allreduce_f08ts pass to the MPI library");
}

/* What has no elements has no gaps, nor has an array of assumed size, whose last dimension has no
 * end. */
static bool has_gaps(const Section* section) {
    ptrdiff_t next_bytes = (ptrdiff_t)section->element_bytes;
    bool found = false;
    for (int i = 0; i < section->rank; ++i) {
        const ptrdiff_t extent = section->extents[i];
        if (extent <= 0) return false;
        found = found || (extent > 1 && section->strides_bytes[i] != next_bytes);
        next_bytes *= extent;
    }
    return found;
}

static void read_gnu(const Gnu_descriptor* descriptor, Section* section) {
    const ptrdiff_t span_bytes =
        descriptor->span_bytes != 0 ? descriptor->span_bytes : (ptrdiff_t)descriptor->element_bytes;
    section->base = descriptor->base;
    section->element_bytes = descriptor->element_bytes;
    section->rank = descriptor->rank;
    for (int i = 0; i < section->rank; ++i) {
        const Gnu_dimension* const dimension = &descriptor->dimensions[i];
        section->extents[i] = dimension->upper - dimension->lower + 1;
        section->strides_bytes[i] = dimension->stride * span_bytes;
    }
}

static void read_flang(const Flang_descriptor* descriptor, Section* section) {
    section->base = descriptor->base;
    section->element_bytes = descriptor->element_bytes;
    section->rank = descriptor->rank;
    for (int i = 0; i < section->rank; ++i) {
        section->extents[i] = descriptor->dimensions[i].extent;
        section->strides_bytes[i] = descriptor->dimensions[i].stride_bytes;
    }
}

static bool is_flangs(const Flang_descriptor* descriptor) {
    const int version = descriptor->version;
    return (version == 20180515 || version == 20240719) && descriptor->rank <= MOST_DIMENSIONS;
}

static bool is_gnus(const Gnu_descriptor* descriptor) {
    return descriptor->version == 0 && descriptor->rank >= 0 && descriptor->rank <= MOST_DIMENSIONS;
}

bool read_section(const void* descriptor, Section* section) {
    pthread_once(&looked, look);
    if (has_gnu && is_gnus(descriptor)) {
        read_gnu(descriptor, section);
    } else if (!has_gnu && is_flangs(descriptor)) {
        read_flang(descriptor, section);
    } else {
        pthread_once(&said, say);
        return false;
    }
    section->has_gaps = has_gaps(section);
    return true;
}

static size_t elements_of(const Section* section) {
    size_t count = 1;
    for (int i = 0; i < section->rank; ++i) count *= (size_t)section->extents[i];
    return count;
}

/* Copies all elements, the first dimension fastest: to `packed`, or from there. */
static void copy_elements(const Section* section, char* packed, bool to_packed) {
    ptrdiff_t at[MOST_DIMENSIONS] = {0};
    char* element = section->base;
    for (size_t left = elements_of(section); left > 0; --left) {
        memcpy(to_packed ? packed : element, to_packed ? element : packed, section->element_bytes);
        packed += section->element_bytes;
        for (int i = 0; i < section->rank; ++i) {
            element += section->strides_bytes[i];
            if (++at[i] < section->extents[i]) break;
            element -= section->extents[i] * section->strides_bytes[i];
            at[i] = 0;
        }
    }
}

/* What one rank cannot take part in for lack of memory would hang the others. */
static void* memory_of(size_t size_bytes) {
    void* const memory = malloc(size_bytes);
    if (memory == NULL) {
        fprintf(stderr, "gradcoll: no memory for %zu bytes of an array's section\n", size_bytes);
        abort();
    }
    return memory;
}

bool lend(const void* descriptor, Copies copies, Lent* lent) {
    lent->buffer = NULL;
    lent->copy = NULL;
    if (descriptor == NULL) return true;
    if (!read_section(descriptor, &lent->section)) return false;
    if (!lent->section.has_gaps) {
        lent->buffer = c_buffer(lent->section.base);
        return true;
    }
    if (copies == NO_COPIES) return false;
    lent->copy = memory_of(elements_of(&lent->section) * lent->section.element_bytes);
    copy_elements(&lent->section, lent->copy, true);
    lent->buffer = lent->copy;
    return true;
}

void give_back(Lent* lent, bool has_changed) {
    if (lent->copy == NULL) return;
    if (has_changed) copy_elements(&lent->section, lent->copy, false);
    free(lent->copy);
}
