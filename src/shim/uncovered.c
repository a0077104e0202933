/* shim/uncovered.c - reads the symbol tables of the MPI libraries in this process, as the dynamic
 * linker has mapped them. */
#define _GNU_SOURCE

#include <ctype.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "shim/next.h"
#include "shim/speaker.h"

/* These stand in names of other calls: MPI_Reduce_local is no MPI_Reduce. */
static const char* const words_of_others[] = {"init",      "scatter", "block", "local",
                                              "cancelled", "all",     "any",   "some"};
/* Open MPI has its Fortran functions under names of C style, too, which no compiler writes. */
static const char* const words_of_aliases[] = {"f", "f08"};

enum { MOST_NAME_BYTES = 96 };

static bool is_among(const char* word, size_t length, const char* const* words, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0) return true;
    }
    return false;
}
#define IS_AMONG(word, length, words) is_among(word, length, words, sizeof words / sizeof words[0])

/* Returns whether what follows a call's name leaves it the same call: "_c", "_f08ts", nothing. */
static bool is_variant(const char* rest, bool is_of_c) {
    if (*rest != '\0' && *rest != '_') return false;
    while (*rest == '_') {
        const size_t length = strcspn(++rest, "_");
        if (IS_AMONG(rest, length, words_of_others)) return false;
        if (is_of_c && IS_AMONG(rest, length, words_of_aliases)) return false;
        rest += length;
    }
    return true;
}

/* Returns whether the name stands for one of the intercepted calls. */
static bool is_for_intercepted_call(const char* symbol) {
    char lower[MOST_NAME_BYTES];
    const bool is_of_c = isupper((unsigned char)symbol[4]) && islower((unsigned char)symbol[5]);
    size_t length = strlen(symbol);
    if (length >= sizeof lower || (!is_of_c && !GC_OPENMPI_FORTRAN)) return false;
    while (length > 0 && symbol[length - 1] == '_') --length;
    for (size_t i = 0; i < length; ++i) lower[i] = (char)tolower((unsigned char)symbol[i]);
    lower[length] = '\0';
    for (int i = 0; i < NAME_COUNT; ++i) {
        const char* const call = name_of(i);
        const size_t call_length = strlen(call);
        if (strncmp(call, "MPI_", 4) != 0 || !islower((unsigned char)call[5])) continue;
        if (strncasecmp(lower, call, call_length) == 0 && is_variant(lower + call_length, is_of_c))
            return true;
    }
    return false;
}

typedef struct {
    char* text;
    size_t size;
    int count;
} Found;

static void add(Found* found, const char* symbol) {
    enum { MOST_SHOWN = 4 };
    const size_t length = strlen(found->text);
    if (++found->count > MOST_SHOWN) return;
    snprintf(found->text + length, found->size - length, "%s%s", length > 0 ? ", " : "", symbol);
}

/* The parts of a mapped library that name its symbols. */
typedef struct {
    const char* strings;
    const ElfW(Sym) * symbols;
    const uint32_t* gnu_hash;
    const Elf32_Word* hash;
    ElfW(Xword) soname;
} Tables;

static Tables tables_of(const struct dl_phdr_info* library) {
    Tables tables = {NULL, NULL, NULL, NULL, 0};
    const ElfW(Dyn)* entry = NULL;
    for (int i = 0; i < library->dlpi_phnum; ++i) {
        if (library->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            entry = (const ElfW(Dyn)*)(library->dlpi_addr + library->dlpi_phdr[i].p_vaddr);
        }
    }
    for (; entry != NULL && entry->d_tag != DT_NULL; ++entry) {
        /* Some dynamic linkers leave the addresses as they are in the file. */
        const ElfW(Addr) value = entry->d_un.d_ptr;
        const void* const at =
            (const void*)(value < library->dlpi_addr ? value + library->dlpi_addr : value);
        if (entry->d_tag == DT_STRTAB) tables.strings = at;
        if (entry->d_tag == DT_SYMTAB) tables.symbols = at;
        if (entry->d_tag == DT_GNU_HASH) tables.gnu_hash = at;
        if (entry->d_tag == DT_HASH) tables.hash = at;
        if (entry->d_tag == DT_SONAME) tables.soname = entry->d_un.d_val;
    }
    return tables;
}

/* Returns the number of symbols, which only the hash tables tell. */
static uint32_t symbol_count(const Tables* tables) {
    if (tables->hash != NULL) return tables->hash[1];
    if (tables->gnu_hash == NULL) return 0;
    const uint32_t bucket_count = tables->gnu_hash[0], first = tables->gnu_hash[1];
    const uint32_t bloom_words = tables->gnu_hash[2] * (uint32_t)(sizeof(ElfW(Addr)) / 4);
    const uint32_t* const buckets = tables->gnu_hash + 4 + bloom_words;
    const uint32_t* const chains = buckets + bucket_count;
    uint32_t last = 0;
    for (uint32_t i = 0; i < bucket_count; ++i) {
        if (buckets[i] > last) last = buckets[i];
    }
    if (last < first) return first;
    while ((chains[last - first] & 1) == 0) ++last; /* the end of the last chain */
    return last + 1;
}

static int look_into(struct dl_phdr_info* library, size_t size, void* data) {
    const Tables tables = tables_of(library);
    (void)size;
    if (tables.strings == NULL || tables.symbols == NULL || tables.soname == 0) return 0;
    if (strncmp(tables.strings + tables.soname, "libmpi", 6) != 0) return 0;
    const uint32_t count = symbol_count(&tables);
    for (uint32_t i = 0; i < count; ++i) {
        const ElfW(Sym)* const symbol = &tables.symbols[i];
        const char* const name = tables.strings + symbol->st_name;
        if (symbol->st_shndx == SHN_UNDEF || (symbol->st_info & 0xf) != STT_FUNC) continue;
        if (strncasecmp(name, "mpi_", 4) != 0 || is_intercepted(name)) continue;
        if (is_for_intercepted_call(name)) add(data, name);
    }
    return 0;
}

int GC_Interposer_uncovered(char* text, size_t size) {
    Found found = {text, size, 0};
    text[0] = '\0';
    dl_iterate_phdr(look_into, &found);
    return found.count;
}

void speak_of_uncovered(void) {
    char names[512];
    const int count = GC_Interposer_uncovered(names, sizeof names);
    if (count > 0) {
        speak(
            "this MPI library has %d names for intercepted calls that are not known here, so that "
            "calls with them pass: %s%s",
            count, names, count > 4 ? ", ..." : "");
    }
}
