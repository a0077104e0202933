/* shim/speaker.h - the few things the interposer itself has to say. */
#ifndef GRADCOLL_SHIM_SPEAKER_H
#define GRADCOLL_SHIM_SPEAKER_H

/* Writes "gradcoll: ..." and a newline to stderr; from the first process only where the launcher
 * tells the processes apart. */
void speak(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* Says in one line if the loaded MPI library has names for intercepted calls that the interposer
 * does not define: calls with such a name would pass in silence. Is called once, when the core is
 * there. */
void speak_of_uncovered(void);

#endif
