/* A libcuda.so.1 that is too old for everything. */
int cuDriverGetVersion(int* version);
int cuInit(unsigned flags);

int cuDriverGetVersion(int* version) {
    *version = 9000;
    return 0;
}

int cuInit(unsigned flags) {
    (void)flags;
    return 0;
}
