/* SPDX-License-Identifier: BSD-3-Clause
 * fortran_next.c: finds what a Fortran wrapper passes its call on to.
 */
#include "fortran.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/log.h"

struct search {
    const char *name;
    const void *own_base; /* where liblucid is mapped */
    void *found;
};

static const void *base_of(const void *address)
{
    Dl_info info;
    return address != NULL && dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

/* RTLD_NEXT sees the objects the program was started with. An MPI that came later by dlopen with RTLD_LOCAL (a Fortran
 * extension of a Python program) has to be asked directly. */
static int ask_object(struct dl_phdr_info *object, size_t size, void *data)
{
    struct search *search = data;
    if (object->dlpi_name == NULL || object->dlpi_name[0] == '\0') return 0;
    void *handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL) return 0;
    void *address = dlsym(handle, search->name);
    dlclose(handle);
    if (address == NULL || base_of(address) == search->own_base) return 0;
    search->found = address;
    return 1;
}

static void *find(const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);
    if (address != NULL) return address;
    struct search search = {name, base_of((const void *)&find), NULL};
    dl_iterate_phdr(ask_object, &search);
    return search.found;
}

/* mpi_x_ is also the wrapper of mpi_x__ and MPI_X: a library may have names of one of these kinds only. */
static void *find_spelled(const char *name)
{
    char spelling[128];
    void *address = find(name);
    if (address != NULL) return address;
    snprintf(spelling, sizeof spelling, "%s_", name);
    if ((address = find(spelling)) != NULL) return address;
    snprintf(spelling, sizeof spelling, "%.*s", (int)strlen(name) - 1, name);
    for (char *c = spelling; *c != '\0'; c++) *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    return find(spelling);
}

void *lucid_fortran_find(_Atomic(void *) *slot, const char *name)
{
    void *address = find_spelled(name);
    if (address == NULL) {
        lucid_error("no loaded MPI library defines %s: link the program with -Wl,--no-as-needed", name);
        abort();
    }
    atomic_store_explicit(slot, address, memory_order_release);
    return address;
}

/* Fortran knows MPI_IN_PLACE by an address: that of a common block in Open MPI, and in MPICH that of a variable of
 * mpi_f08, or the content of a pointer for mpif.h, which MPI_Init sets. */
static const void *in_place[6];
static pthread_once_t in_place_once = PTHREAD_ONCE_INIT;

/* A common block is where the program has it, and the library refers to it there: the first definition counts. */
static void *find_constant(const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    return address != NULL ? address : find(name);
}

static void find_in_place(void)
{
    static const char *const blocks[] = {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__",
                                         "MPI_FORTRAN_IN_PLACE", "MPIR_F08_MPI_IN_PLACE"};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) in_place[i] = find_constant(blocks[i]);
    const void *const *pointer = find_constant("MPIR_F_MPI_IN_PLACE");
    in_place[5] = pointer != NULL ? *pointer : NULL;
}

bool lucid_fortran_in_place(const void *buffer, bool descriptor)
{
    pthread_once(&in_place_once, find_in_place);
    const void *address = descriptor && buffer != NULL ? *(const void *const *)buffer : buffer;
    if (address == NULL) return false;
    for (size_t i = 0; i < sizeof in_place / sizeof in_place[0]; i++)
        if (address == in_place[i]) return true;
    return false;
}

/* Whether an address is that of one of Fortran's constants: a common block, or MPICH's variable or pointer. */
static bool is_constant(const void *address, const char *name)
{
    char symbol[64];
    static const char *const forms[] = {"mpi_fortran_%s_", "mpi_fortran_%s", "mpi_fortran_%s__"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        snprintf(symbol, sizeof symbol, forms[i], name);
        if (find_constant(symbol) == address) return true;
    }
    for (size_t i = 0; i < 2; i++) {
        int n = snprintf(symbol, sizeof symbol, i == 0 ? "MPIR_F08_MPI_%s" : "MPIR_F_MPI_%s", name);
        for (int c = 0; c < n; c++)
            if (symbol[c] >= 'a' && symbol[c] <= 'z') symbol[c] = (char)(symbol[c] - 'a' + 'A');
        const void *const *found = find_constant(symbol);
        if (found != NULL && (i == 0 ? (const void *)found : *found) == address) return true;
    }
    return false;
}

/* Topologies are created rarely: nothing is kept. */
const int *lucid_fortran_weights(const void *weights)
{
    if (is_constant(weights, "unweighted")) return MPI_UNWEIGHTED;
    return is_constant(weights, "weights_empty") ? MPI_WEIGHTS_EMPTY : weights;
}
