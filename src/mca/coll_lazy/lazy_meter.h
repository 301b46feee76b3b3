/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_meter.h: what the process has spent so far: heap, context ids, messages, time.
 */
#ifndef LUCID_LAZY_METER_H
#define LUCID_LAZY_METER_H

#include "../../monitor/startup.h"

/** Begins to count messages. */
void lucid_meter_open(void);
/** Ends it, if nobody else counts on top. */
void lucid_meter_close(void);
void lucid_meter_read(struct lucid_startup_cost *now);

/** total += sign * (end - begin) */
void lucid_meter_add(struct lucid_startup_cost *total, const struct lucid_startup_cost *begin, const struct lucid_startup_cost *end,
                     int sign);

#endif
