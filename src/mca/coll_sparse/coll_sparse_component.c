/* SPDX-License-Identifier: BSD-3-Clause
 * coll_sparse_component.c: the component as Open MPI sees it, its variables and figures.
 */
#include "coll_sparse.h"

#include <string.h>

#include "log.h"
#include "mca_parameters.h"
#include "mca_release.h"
#include "opal/mca/base/mca_base_pvar.h"
#include "sparse_memory.h"
#include "sparse_settings.h"

struct coll_sparse_process coll_sparse_process;

static const char *const density_names[] = {"0.0001", "0.001", "0.01", "0.02", "0.05", "0.1", "0.5", "1"};

static int read_figure(const mca_base_component_t *component, const char *name, const char *help, mca_base_get_value_fn_t read, void *figure)
{
    return mca_base_component_pvar_register(component, name, help, OPAL_INFO_LVL_4, MCA_BASE_PVAR_CLASS_COUNTER,
                                            MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL, MCA_BASE_VAR_BIND_NO_OBJECT,
                                            MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, read, NULL, NULL, figure);
}

static int register_figure(const mca_base_component_t *component, const char *name, const char *help, void *figure)
{
    return read_figure(component, name, help, NULL, figure);
}

static int read_passed(const struct mca_base_pvar_t *variable, void *value, void *object)
{
    *(unsigned long long *)value = coll_sparse_all_passed();
    return OMPI_SUCCESS;
}

static void register_figures(const mca_base_component_t *component)
{
    register_figure(component, "calls_taken", "reductions that ran here", &coll_sparse_process.taken);
    read_figure(component, "calls_passed", "reductions that were passed on", read_passed, NULL);
    register_figure(component, "bytes_sent", "bytes that the reductions which ran here sent, or showed to others of their node", &coll_sparse_process.sent);
    register_figure(component, "bytes_saved", "bytes that their dense forms would have sent more", &coll_sparse_process.saved);
    for (size_t i = 0; i < sizeof density_names / sizeof *density_names; i++) {
        char name[64], help[128];
        snprintf(name, sizeof name, "density_below_%s", density_names[i]);
        snprintf(help, sizeof help, "reductions of which less than this share of the elements stood out (and no less than the one before; 1: or all)");
        register_figure(component, name, help, &coll_sparse_process.density[i]);
    }
}

static struct lucid_params params;

static int register_all(void)
{
    const mca_base_component_t *component = &mca_coll_sparse_component.collm_version;
    lucid_mca_parameters(component, "LUCID_SPARSE_", &params); /* LUCID_SPARSE is liblucid's */
    coll_sparse_process.priority = params.sparse_priority;
    coll_sparse_process.nonblocking = params.sparse_nonblocking;
    register_figures(component);
    return OMPI_SUCCESS;
}

bool coll_sparse_settings(ompi_communicator_t *comm, struct sparse_parameters *parameters)
{
    char words[256], *rest = words, *word;
    bool on = true;
    sparse_settings(&params, parameters);
    parameters->wordless = lucid_ompi_ft_enabled(); /* of a process that has failed the library tells who waits for its messages */
    if (!lucid_ompi_comm_info(comm, "lucid_sparse", words, sizeof words)) return true;
    while ((word = strsep(&rest, ",")) != NULL) {
        if (strcmp(word, "off") == 0) on = false;
        else if (strcmp(word, "always") == 0) parameters->always = true;
        else if (strcmp(word, "dense") == 0) parameters->dense = true;
        else if (sparse_algorithm_named(word) != SPARSE_LIBRARY) parameters->algorithm = sparse_algorithm_named(word);
        else if (strcmp(word, "auto") != 0)
            lucid_error("coll/sparse: info key lucid_sparse: '%s' is none of auto, off, always, dense and the algorithms, and is left out", word);
    }
    return on;
}

static int init_query(bool progress_threads, bool mpi_threads)
{
    return OMPI_SUCCESS;
}

static int open_component(void)
{
    const char *without = coll_sparse_process.priority > 0 ? "reductions run without coll/sparse" : NULL;
    return lucid_mca_fits(without) ? OMPI_SUCCESS : OMPI_ERR_NOT_AVAILABLE;
}

static int close_component(void)
{
    coll_sparse_requests_close();
    sparse_memory_forget();
    return OMPI_SUCCESS;
}

const mca_coll_base_component_t mca_coll_sparse_component = {
    .collm_version = {
        LUCID_OMPI_COLL_VERSION,
        .mca_component_name = "sparse",
        MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION),
        .mca_open_component = open_component,
        .mca_close_component = close_component,
        .mca_register_component_params = register_all,
    },
    .collm_data = LUCID_OMPI_COLL_DATA,
    .collm_init_query = init_query,
    .collm_comm_query = coll_sparse_query,
};
