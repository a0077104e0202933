/* tests/faults/at_time.h - what programs whose ranks die do at a chosen time. */
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static void die(int number) {
    (void)number;
    kill(getpid(), SIGKILL);
}

static void call_after(double seconds, void (*handler)(int)) {
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval timer = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6) + 1;
    setitimer(ITIMER_REAL, &timer, NULL);
}
