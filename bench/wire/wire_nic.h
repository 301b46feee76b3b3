/* SPDX-License-Identifier: BSD-3-Clause
 * wire_nic.h: what a node's network card has sent, from its counters in /sys.
 */
#ifndef WIRE_NIC_H
#define WIRE_NIC_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct wire_nic {
    uint64_t bytes;
    uint64_t packets;
};

static inline uint64_t wire_nic_counter(const char *device, const char *name)
{
    char path[256];
    unsigned long long value;
    snprintf(path, sizeof path, "/sys/class/net/%s/statistics/%s", device, name);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%llu", &value) != 1) {
        fprintf(stderr, "wire: cannot read %s; run in the lab (lab/lab mpirun)\n", path);
        exit(1);
    }
    fclose(file);
    return value;
}

static inline struct wire_nic wire_nic_sent(const char *device)
{
    /* The packets first: a packet between the two readings must not make its header count as payload. */
    uint64_t packets = wire_nic_counter(device, "tx_packets");
    return (struct wire_nic){.bytes = wire_nic_counter(device, "tx_bytes"), .packets = packets};
}

#endif
