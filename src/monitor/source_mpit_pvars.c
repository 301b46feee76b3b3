/* SPDX-License-Identifier: BSD-3-Clause
 * source_mpit_pvars.c: finds Open MPI's monitoring variables, and brings them back where the library has lost them.
 *
 * On Open MPI 4.0 and 4.1 the monitoring component is closed inside MPI_Init, once it has put itself in the way of the
 * messages, and its variables are invalidated with it (open-mpi/ompi issue 9260), although it goes on counting.
 * Registering them again after MPI_Init makes them readable.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source_mpit.h"

#define COUNT_VARIABLE "pml_monitoring_messages_count"
#define BYTES_VARIABLE "pml_monitoring_messages_size"
#define MODE_VARIABLE "pml_monitoring_enable"

int lucid_mpit_open_mpi_major(char *version, size_t size)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length, major;
    if (PMPI_Get_library_version(text, &length) != MPI_SUCCESS) return -1;
    text[strcspn(text, ",\n")] = '\0';
    if (version != NULL) snprintf(version, size, "%s", text);
    return sscanf(text, "Open MPI v%d", &major) == 1 ? major : -1;
}

/* The function takes a pointer that it ignores (4.0, 4.1) or nothing (5.0). */
void lucid_mpit_register_again(void)
{
    void *library = dlopen("libmca_common_monitoring.so.50", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) return;
    void (*register_variables)(void *);
    *(void **)&register_variables = dlsym(library, "mca_common_monitoring_register");
    if (register_variables != NULL) register_variables(NULL);
    dlclose(library);
}

static int find(const char *name, int *index)
{
    return MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_SIZE, index) == MPI_SUCCESS ? 0 : -1;
}

/* A handle on MPI_COMM_WORLD, the only object that works, with one 64-bit number per process; started for good. */
static int start_handle(MPI_T_pvar_session session, int index, MPI_T_pvar_handle *handle)
{
    static MPI_Comm world; /* Open MPI keeps the address */
    int verbosity, class, bind, readonly, continuous, atomic, bytes, elements, peers;
    MPI_Datatype type;
    MPI_T_enum enumtype;
    world = MPI_COMM_WORLD;
    if (MPI_T_pvar_get_info(index, NULL, NULL, &verbosity, &class, &type, &enumtype, NULL, NULL, &bind, &readonly,
                            &continuous, &atomic) != MPI_SUCCESS) {
        return -1;
    }
    PMPI_Type_size(type, &bytes);
    PMPI_Comm_size(world, &peers);
    if (bytes != 8 || MPI_T_pvar_handle_alloc(session, index, &world, handle, &elements) != MPI_SUCCESS) return -1;
    return elements == peers && MPI_T_pvar_start(session, *handle) == MPI_SUCCESS ? 0 : -1;
}

static int read_mode(void)
{
    int index, elements, mode = 0;
    MPI_T_cvar_handle handle;
    if (MPI_T_cvar_get_index(MODE_VARIABLE, &index) != MPI_SUCCESS) return 0;
    if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &elements) != MPI_SUCCESS) return 0;
    if (MPI_T_cvar_read(handle, &mode) != MPI_SUCCESS) mode = 0;
    MPI_T_cvar_handle_free(&handle);
    return mode;
}

static void say_why_not_enabled(int major, char *why, size_t size)
{
    const char *source = getenv("LUCID_SOURCE"), *pml = getenv("OMPI_MCA_pml");
    if (major >= LUCID_MPIT_BROKEN_MAJOR) {
        snprintf(why, size, "Open MPI %d crashes in MPI_Init when its monitoring is enabled, so it is left alone; use "
                 "LUCID_SOURCE=pml", major);
    } else if (pml != NULL && pml[0] != '^') {
        snprintf(why, size, "OMPI_MCA_pml=%s keeps Open MPI's monitoring out; remove it or exclude the others instead "
                 "(pml=^ucx,cm)", pml);
    } else if (source == NULL || strcmp(source, "mpit") != 0) {
        snprintf(why, size, "Open MPI's monitoring is not enabled: set LUCID_SOURCE=mpit before the program starts, or "
                 "run with --mca pml_monitoring_enable 1");
    } else {
        snprintf(why, size, "Open MPI's monitoring is not in use: was it built in, or another PML forced, or "
                 "pml_monitoring_enable set to 0?");
    }
}

/* Open MPI (4.1 to 6.0) makes the level that MPI_T_init_thread asks for that of the whole library: asking for less than
 * MPI_Init_thread got takes away the program's MPI_THREAD_MULTIPLE, and threads that send get in each other's way. */
static int initialize_mpi_t(void)
{
    int level, provided;
    if (PMPI_Query_thread(&level) != MPI_SUCCESS) return -1;
    return MPI_T_init_thread(level, &provided) == MPI_SUCCESS ? 0 : -1;
}

int lucid_mpit_prepare(MPI_T_pvar_session *session, MPI_T_pvar_handle *count, MPI_T_pvar_handle *bytes, int *mode,
                       char *why, size_t why_size)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int count_index, bytes_index, major = lucid_mpit_open_mpi_major(version, sizeof(version));
    if (major < 0) {
        snprintf(why, why_size, "it reads Open MPI's monitoring variables, and this is %.100s", version);
        return -1;
    }
    if (initialize_mpi_t() != 0 || MPI_T_pvar_session_create(session) != MPI_SUCCESS) {
        snprintf(why, why_size, "MPI_T cannot be initialized");
        return -1;
    }
    if (find(COUNT_VARIABLE, &count_index) != 0) lucid_mpit_register_again();
    *mode = read_mode();
    if (*mode == 0 || find(COUNT_VARIABLE, &count_index) != 0 || find(BYTES_VARIABLE, &bytes_index) != 0) {
        say_why_not_enabled(major, why, why_size);
        return -1;
    }
    if (start_handle(*session, count_index, count) != 0 || start_handle(*session, bytes_index, bytes) != 0) {
        snprintf(why, why_size, "Open MPI's monitoring variables cannot be bound to MPI_COMM_WORLD");
        return -1;
    }
    return 0;
}
