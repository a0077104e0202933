/* tests/preload/witness.h - what the programs of this folder share. None of them knows of Gradcoll:
 * each makes a long series of MPI calls and writes what came out, one line a case, to
 * FOLDER/rank.N. The driver runs it plain and preloaded and compares the files. */
#ifndef GRADCOLL_TESTS_PRELOAD_WITNESS_H
#define GRADCOLL_TESTS_PRELOAD_WITNESS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE* witness_file;

static inline void witness_open(const char* folder, int rank) {
    char path[4096];
    snprintf(path, sizeof path, "%s/rank.%d", folder, rank);
    witness_file = fopen(path, "w");
    if (!witness_file) {
        perror(path);
        exit(3);
    }
    setvbuf(witness_file, NULL, _IOLBF, BUFSIZ); /* what is written before a crash stays */
}

static inline void witness_close(void) {
    if (fclose(witness_file) != 0) exit(3);
}

/* One line of text. */
static inline void witness(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(witness_file, format, arguments);
    va_end(arguments);
    fputc('\n', witness_file);
}

static inline uint64_t mixed_in(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 1099511628211U;
    return hash ^ (hash >> 32);
}

/* By words of eight bytes: these programs write down every byte that they receive. */
static inline uint64_t digest(const void* data, size_t bytes) {
    const unsigned char* at = (const unsigned char*)data;
    uint64_t hash = 14695981039346656037U, word;
    for (; bytes >= sizeof word; bytes -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = mixed_in(hash, word);
    }
    for (; bytes > 0; --bytes) hash = mixed_in(hash, *at++);
    return hash;
}

/* Over `used` bytes of each element: 16 byte long doubles have six bytes that mean nothing. */
static inline uint64_t digest_of(const void* data, size_t count, size_t size, size_t used) {
    if (used == size) return digest(data, count * size);
    const unsigned char* bytes = (const unsigned char*)data;
    uint64_t hash = 0;
    for (size_t i = 0; i < count; ++i) hash = mixed_in(hash, digest(bytes + i * size, used));
    return hash;
}

/* The same for the same arguments, on every rank and in every run. */
static inline uint64_t scramble(uint64_t seed, int rank, size_t index) {
    uint64_t x = seed * 0x9e3779b97f4a7c15U + (uint64_t)rank * 0xd1342543de82ef95U + index;
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/* Uniform in [-1, 1). */
static inline double scrambled_real(uint64_t seed, int rank, size_t index) {
    return (double)(int64_t)scramble(seed, rank, index) / 9223372036854775808.0;
}

static inline void* room(size_t bytes) {
    void* memory = calloc(bytes ? bytes : 1, 1);
    if (!memory) exit(3);
    return memory;
}

#endif
