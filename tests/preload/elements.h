/* tests/preload/elements.h - every predefined datatype of C that the reductions take, and data for
 * each op whose result does not depend on the order of the operands: sums and products of
 * floating-point types are of numbers that stay exact; 8 and 16 bit integers neither wrap nor
 * saturate (Open MPI 4.1 saturates); the highest bit of unsigned operands of max and min is clear
 * (MPICH 4.0 takes them for signed ones). */
#ifndef GRADCOLL_TESTS_PRELOAD_ELEMENTS_H
#define GRADCOLL_TESTS_PRELOAD_ELEMENTS_H

#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "witness.h"

enum kind { SIGNED, UNSIGNED, FLOATING, COMPLEX, LOGICAL, BYTES };

struct type_row {
    const char* name;
    MPI_Datatype type;
    size_t size; /* of one element */
    size_t used; /* its bytes that mean something */
    enum kind kind;
};

struct op_row {
    const char* name;
    MPI_Op op;
};

/* Handles are not constants in every MPI: filled by make_tables(). */
#define MAX_TYPES 40
static struct type_row types[MAX_TYPES];
static int type_count;
static struct op_row ops[10];
static const int op_count = 10;

static inline void add_type(const char* name, MPI_Datatype type, size_t size, enum kind kind) {
    const size_t used = type == MPI_LONG_DOUBLE && size == 16 ? 10 : size;
    const struct type_row row = {name, type, size, used, kind};
    types[type_count++] = row;
}

static inline void add_op(int index, const char* name, MPI_Op op) {
    const struct op_row row = {name, op};
    ops[index] = row;
}

#define ADD_TYPE(mpi, c, kind) add_type(#mpi, mpi, sizeof(c), kind)

static inline void make_tables(void) {
    ADD_TYPE(MPI_SIGNED_CHAR, signed char, SIGNED);
    ADD_TYPE(MPI_SHORT, short, SIGNED);
    ADD_TYPE(MPI_INT, int, SIGNED);
    ADD_TYPE(MPI_LONG, long, SIGNED);
    ADD_TYPE(MPI_LONG_LONG, long long, SIGNED);
    ADD_TYPE(MPI_UNSIGNED_CHAR, unsigned char, UNSIGNED);
    ADD_TYPE(MPI_UNSIGNED_SHORT, unsigned short, UNSIGNED);
    ADD_TYPE(MPI_UNSIGNED, unsigned, UNSIGNED);
    ADD_TYPE(MPI_UNSIGNED_LONG, unsigned long, UNSIGNED);
    ADD_TYPE(MPI_UNSIGNED_LONG_LONG, unsigned long long, UNSIGNED);
    ADD_TYPE(MPI_INT8_T, int8_t, SIGNED);
    ADD_TYPE(MPI_INT16_T, int16_t, SIGNED);
    ADD_TYPE(MPI_INT32_T, int32_t, SIGNED);
    ADD_TYPE(MPI_INT64_T, int64_t, SIGNED);
    ADD_TYPE(MPI_UINT8_T, uint8_t, UNSIGNED);
    ADD_TYPE(MPI_UINT16_T, uint16_t, UNSIGNED);
    ADD_TYPE(MPI_UINT32_T, uint32_t, UNSIGNED);
    ADD_TYPE(MPI_UINT64_T, uint64_t, UNSIGNED);
    ADD_TYPE(MPI_AINT, MPI_Aint, SIGNED);
    ADD_TYPE(MPI_OFFSET, MPI_Offset, UNSIGNED); /* Open MPI 4.1 takes it for that in max and min */
    ADD_TYPE(MPI_COUNT, MPI_Count, SIGNED);
    ADD_TYPE(MPI_FLOAT, float, FLOATING);
    ADD_TYPE(MPI_DOUBLE, double, FLOATING);
    ADD_TYPE(MPI_LONG_DOUBLE, long double, FLOATING);
    add_type("MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, 2 * sizeof(float), COMPLEX);
    add_type("MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, 2 * sizeof(double), COMPLEX);
    ADD_TYPE(MPI_C_BOOL, bool, LOGICAL);
    ADD_TYPE(MPI_BYTE, unsigned char, BYTES);

    add_op(0, "sum", MPI_SUM);
    add_op(1, "prod", MPI_PROD);
    add_op(2, "max", MPI_MAX);
    add_op(3, "min", MPI_MIN);
    add_op(4, "land", MPI_LAND);
    add_op(5, "lor", MPI_LOR);
    add_op(6, "lxor", MPI_LXOR);
    add_op(7, "band", MPI_BAND);
    add_op(8, "bor", MPI_BOR);
    add_op(9, "bxor", MPI_BXOR);
}

static inline bool is_arithmetic(MPI_Op op) {
    return op == MPI_SUM || op == MPI_PROD;
}
static inline bool is_order(MPI_Op op) {
    return op == MPI_MAX || op == MPI_MIN;
}
static inline bool is_logical(MPI_Op op) {
    return op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;
}

/* MPI 3.1, 5.9.2. */
static inline bool is_defined(MPI_Op op, enum kind kind) {
    switch (kind) {
        case SIGNED:
        case UNSIGNED:
            return true;
        case FLOATING:
            return is_arithmetic(op) || is_order(op);
        case COMPLEX:
            return is_arithmetic(op);
        case LOGICAL:
            return is_logical(op);
        case BYTES:
            return !is_arithmetic(op) && !is_order(op) && !is_logical(op);
    }
    return false;
}

static inline uint64_t integer_value(MPI_Op op, const struct type_row* type, uint64_t x) {
    if (is_logical(op)) return x % 3 == 0 ? 0 : 1 + x % 120;
    if (is_order(op) && type->kind == UNSIGNED) x &= ~((uint64_t)1 << (8 * type->size - 1));
    if (type->size > 2 || !is_arithmetic(op)) return op == MPI_PROD ? x | 1 : x;
    if (op == MPI_PROD) return 1 + x % 2;
    return type->kind == SIGNED ? (uint64_t)((int64_t)(x % 21) - 10) : x % 21;
}

static inline double real_value(MPI_Op op, uint64_t x) {
    static const double factors[] = {1, 2, 0.5, -1};
    if (op == MPI_SUM) return (double)(x % 2001) - 1000;
    if (op == MPI_PROD) return factors[x % 4];
    return (double)(int64_t)x / 4294967296.0;
}

static inline void put_real(unsigned char* to, size_t size, double value) {
    const float single = (float)value;
    const long double extended = (long double)value;
    if (size == sizeof single) memcpy(to, &single, size);
    if (size == sizeof value) memcpy(to, &value, size);
    if (size == sizeof extended && size != sizeof value) memcpy(to, &extended, size);
}

static inline void put_integer(unsigned char* to, size_t size, uint64_t value) {
    const uint8_t one = (uint8_t)value;
    const uint16_t two = (uint16_t)value;
    const uint32_t four = (uint32_t)value;
    if (size == 1) memcpy(to, &one, size);
    if (size == 2) memcpy(to, &two, size);
    if (size == 4) memcpy(to, &four, size);
    if (size == 8) memcpy(to, &value, size);
}

static inline void put_complex(unsigned char* to, size_t size, MPI_Op op, uint64_t x) {
    /* Products of multiples of 2 + i: no part of one is zero, whose sign the brackets decide. */
    const double factor = real_value(MPI_PROD, x);
    const double sum_real = real_value(MPI_SUM, x);
    const double sum_imaginary = real_value(MPI_SUM, x >> 16);
    put_real(to, size / 2, op == MPI_PROD ? 2 * factor : sum_real);
    put_real(to + size / 2, size / 2, op == MPI_PROD ? factor : sum_imaginary);
}

/* Fills `count` elements as rank `rank` has them in the case `seed`. */
static inline void fill(void* buffer, const struct type_row* type, size_t count, MPI_Op op,
                        int rank, uint64_t seed) {
    unsigned char* to = (unsigned char*)buffer;
    memset(buffer, 0, count * type->size);
    for (size_t i = 0; i < count; ++i, to += type->size) {
        const uint64_t x = scramble(seed, rank, i);
        switch (type->kind) {
            case SIGNED:
            case UNSIGNED:
            case BYTES:
                put_integer(to, type->size, integer_value(op, type, x));
                break;
            case LOGICAL:
                put_integer(to, type->size, x % 3 != 0);
                break;
            case FLOATING:
                put_real(to, type->size, real_value(op, x));
                break;
            case COMPLEX:
                put_complex(to, type->size, op, x);
                break;
        }
    }
}

#endif
