/* shim/core.h - libgradcoll, loaded at the first call that may be offered. */
#ifndef GRADCOLL_SHIM_CORE_H
#define GRADCOLL_SHIM_CORE_H

#include "base/interposer_table.h"

/* Null if this process is to be left alone: a foreign MPI, no core, GC_ENABLE=off. The first call
 * decides, once per process, and says why where that is an error. Thread safe. */
const GC_Interposer_table* find_core(void);

/* The same, but null as long as nobody has called find_core(). */
const GC_Interposer_table* loaded_core(void);

#endif
