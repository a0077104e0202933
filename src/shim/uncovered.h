/* shim/uncovered.h - names of the loaded MPI library for intercepted calls that the interposer does
 * not define: calls with such a name would pass in silence. */
#ifndef GRADCOLL_SHIM_UNCOVERED_H
#define GRADCOLL_SHIM_UNCOVERED_H

/* Says so in one line if there are any. Is called once, when the core is there. */
void speak_of_uncovered(void);

#endif
