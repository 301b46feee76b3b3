/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_meter.c: see lazy_meter.h.
 */
#include "lazy_meter.h"

#include LUCID_COMPAT_HEADER

#include <malloc.h>
#include <time.h>

static mca_pml_base_module_send_fn_t original_send;
static mca_pml_base_module_isend_fn_t original_isend;
static uint64_t messages, message_bytes;

static void count(size_t n, const struct ompi_datatype_t *type)
{
    (void)__atomic_add_fetch(&messages, 1, __ATOMIC_RELAXED);
    (void)__atomic_add_fetch(&message_bytes, n * type->super.size, __ATOMIC_RELAXED);
}

static int counting_send(const void *buf, size_t n, struct ompi_datatype_t *type, int dst, int tag, mca_pml_base_send_mode_t mode,
                         struct ompi_communicator_t *comm)
{
    count(n, type);
    return original_send(buf, n, type, dst, tag, mode, comm);
}

static int counting_isend(const void *buf, size_t n, struct ompi_datatype_t *type, int dst, int tag, mca_pml_base_send_mode_t mode,
                          struct ompi_communicator_t *comm, struct ompi_request_t **request)
{
    count(n, type);
    return original_isend(buf, n, type, dst, tag, mode, comm, request);
}

void lucid_meter_open(void)
{
    original_send = mca_pml.pml_send;
    original_isend = mca_pml.pml_isend;
    __atomic_store_n(&mca_pml.pml_send, counting_send, __ATOMIC_RELEASE);
    __atomic_store_n(&mca_pml.pml_isend, counting_isend, __ATOMIC_RELEASE);
}

void lucid_meter_close(void)
{
    if (mca_pml.pml_send != counting_send || mca_pml.pml_isend != counting_isend) return;
    mca_pml.pml_send = original_send;
    mca_pml.pml_isend = original_isend;
}

void lucid_meter_read(struct lucid_startup_cost *now)
{
    struct mallinfo2 heap = mallinfo2();
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    now->bytes = (int64_t)(heap.uordblks + heap.hblkhd);
    now->ids = ompi_mpi_communicators.size - ompi_mpi_communicators.number_free;
    now->messages = __atomic_load_n(&messages, __ATOMIC_RELAXED);
    now->message_bytes = __atomic_load_n(&message_bytes, __ATOMIC_RELAXED);
    now->seconds = (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void lucid_meter_add(struct lucid_startup_cost *total, const struct lucid_startup_cost *begin, const struct lucid_startup_cost *end,
                     int sign)
{
    total->bytes += sign * (end->bytes - begin->bytes);
    total->ids += sign * (end->ids - begin->ids);
    total->messages += (uint64_t)sign * (end->messages - begin->messages);
    total->message_bytes += (uint64_t)sign * (end->message_bytes - begin->message_bytes);
    total->seconds += sign * (end->seconds - begin->seconds);
}
