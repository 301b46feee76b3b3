/* SPDX-License-Identifier: BSD-3-Clause
 * session_model.h: plays operations, read off bytes, on the session table and on a plain model of it, and compares all
 * that can be seen after each. Used by the unit test (random bytes) and by the fuzz target. Aborts on a difference.
 *
 * The traffic, the clock and the failures are the model's. Every operation that can fail in real life fails here, too.
 */
#ifndef LUCID_SESSION_MODEL_H
#define LUCID_SESSION_MODEL_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session_table.h"

#define MODEL_PEERS 4
#define MODEL_KINDS 3
#define MODEL_SESSIONS 12
#define MODEL_LIMIT 6 /* visible ones */

#define MODEL_CHECK(condition)                                                                                             \
    do {                                                                                                                   \
        if (!(condition)) {                                                                                                \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                        \
            abort();                                                                                                       \
        }                                                                                                                  \
    } while (0)

struct model_traffic {
    uint64_t count[MODEL_PEERS][MODEL_KINDS], bytes[MODEL_PEERS][MODEL_KINDS];
};

struct model_session {
    int id, serial; /* serial: the attachment, 0 for none */
    bool hidden, active;
    char name[LUCID_NAME_LENGTH + 1];
    struct model_traffic start, data;
    double since, seconds;
};

static struct model {
    struct model_session session[MODEL_SESSIONS];
    int n, serial, last_id;
    struct model_traffic now;
    double clock;
    bool listening;              /* what the table has asked for */
    int failing_read, reads;     /* fails at this one of the reads to come; how many the table has made */
    bool failing_activate;
    int expected_reads;          /* how many it should have made */
    int released[MODEL_SESSIONS + 1], releases;
} model;

static bool model_read_fails(int *count)
{
    ++*count;
    return model.failing_read != 0 && *count == model.failing_read;
}

/* What the table calls. */

static int model_op_read(struct lucid_cells *cells, struct lucid_cells *sizes)
{
    MODEL_CHECK(model.listening);
    for (uint32_t peer = 0; peer < MODEL_PEERS; peer++)
        for (uint32_t kind = 0; kind < MODEL_KINDS; kind++) {
            uint64_t count = model.now.count[peer][kind];
            if (count == 0) continue;
            struct lucid_cell cell = {peer, kind, count, model.now.bytes[peer][kind]};
            if (lucid_cells_append(cells, cell) != 0) return -1;
            cell.bytes = 0; /* "sizes": the same once more */
            if (lucid_cells_append(sizes, cell) != 0) return -1;
        }
    return model_read_fails(&model.reads) ? -1 : 0;
}

static int model_op_activate(void)
{
    MODEL_CHECK(!model.listening);
    if (model.failing_activate) return -1;
    model.listening = true;
    return 0;
}

static void model_op_deactivate(void)
{
    MODEL_CHECK(model.listening);
    model.listening = false;
}

static double model_op_seconds(void)
{
    return model.clock;
}

static void model_op_release(void *attachment)
{
    MODEL_CHECK(model.releases < (int)(sizeof model.released / sizeof *model.released));
    model.released[model.releases++] = (int)(intptr_t)attachment;
}

static const struct lucid_table_ops model_ops = {model_op_read, model_op_activate, model_op_deactivate, model_op_seconds,
                                                 model_op_release};

/* The model's own idea of the same. */

static int model_active(bool visible_only)
{
    int n = 0;
    for (int i = 0; i < model.n; i++) n += model.session[i].active && !(visible_only && model.session[i].hidden);
    return n;
}

static int model_visible(void)
{
    int n = 0;
    for (int i = 0; i < model.n; i++) n += !model.session[i].hidden;
    return n;
}

static struct model_session *model_find(int id)
{
    for (int i = 0; i < model.n; i++)
        if (model.session[i].id == id) return &model.session[i];
    return NULL;
}

static struct model_session *model_find_name(const char *name)
{
    for (int i = 0; i < model.n; i++)
        if (name[0] && strcmp(model.session[i].name, name) == 0) return &model.session[i];
    return NULL;
}

static int model_activate(struct model_session *s)
{
    if (model_active(false) == 0 && model.failing_activate) return LUCID_ERR_INTERNAL;
    if (model_read_fails(&model.expected_reads)) return LUCID_ERR_INTERNAL;
    s->active = true;
    s->start = model.now;
    s->since = model.clock;
    return LUCID_SUCCESS;
}

static int model_suspend(struct model_session *s)
{
    if (model_read_fails(&model.expected_reads)) return LUCID_ERR_INTERNAL;
    for (int peer = 0; peer < MODEL_PEERS; peer++)
        for (int kind = 0; kind < MODEL_KINDS; kind++) {
            s->data.count[peer][kind] += model.now.count[peer][kind] - s->start.count[peer][kind];
            s->data.bytes[peer][kind] += model.now.bytes[peer][kind] - s->start.bytes[peer][kind];
        }
    s->active = false;
    s->seconds += model.clock - s->since;
    return LUCID_SUCCESS;
}

static int model_change(int id, bool from, int (*change)(struct model_session *))
{
    if (id != LUCID_TABLE_ALL) {
        struct model_session *s = model_find(id);
        return !s ? LUCID_ERR_SESSION : s->active != from ? LUCID_ERR_MULTIPLE_CALL : change(s);
    }
    int rc = model_visible() == 0 ? LUCID_ERR_SESSION : LUCID_ERR_MULTIPLE_CALL;
    for (int i = 0; i < model.n; i++) {
        struct model_session *s = &model.session[i];
        if (s->hidden || s->active != from) continue;
        rc = change(s);
        if (rc != LUCID_SUCCESS) return rc;
    }
    return rc;
}

static int model_may_change_data(int id)
{
    struct model_session *s = model_find(id);
    if (id == LUCID_TABLE_ALL)
        return model_active(true) > 0 ? LUCID_ERR_STILL_ACTIVE : model_visible() == 0 ? LUCID_ERR_SESSION : LUCID_SUCCESS;
    return !s ? LUCID_ERR_SESSION : s->active ? LUCID_ERR_NOT_SUSPENDED : LUCID_SUCCESS;
}

static int model_reset(int id)
{
    int rc = model_may_change_data(id);
    for (int i = 0; i < model.n && rc == LUCID_SUCCESS; i++) {
        struct model_session *s = &model.session[i];
        if (id == LUCID_TABLE_ALL ? s->hidden : s->id != id) continue;
        memset(&s->data, 0, sizeof s->data);
        s->seconds = 0;
    }
    return rc;
}

static int model_free(int id)
{
    int rc = model_may_change_data(id), kept = 0, releases = 0;
    if (rc != LUCID_SUCCESS) return rc;
    for (int i = 0; i < model.n; i++) {
        struct model_session *s = &model.session[i];
        if (id == LUCID_TABLE_ALL ? !s->hidden : s->id == id) {
            if (s->serial) MODEL_CHECK(model.released[releases++] == s->serial);
        } else {
            if (kept != i) model.session[kept] = *s;
            kept++;
        }
    }
    MODEL_CHECK(model.releases == releases);
    model.n = kept;
    return rc;
}

/* The bytes. */

struct model_input {
    const uint8_t *byte;
    size_t left;
};

static unsigned model_next(struct model_input *input)
{
    if (input->left == 0) return 0;
    input->left--;
    return *input->byte++;
}

/** An identifier to try: all, one that never was, one that has been freed perhaps, mostly a living one. */
static int model_pick(struct model_input *input)
{
    unsigned choice = model_next(input);
    if (choice < 32) return LUCID_TABLE_ALL;
    if (choice < 36) return 0;
    if (choice < 40) return -2;
    if (choice < 44) return model.last_id + 1;
    if (choice < 64) return 1 + (int)(choice % (unsigned)(model.last_id + 1));
    return model.n ? model.session[choice % (unsigned)model.n].id : 1;
}

/** Few names, so that they meet; "" and one too long among them, and none. */
static const char *model_name(struct model_input *input, char *buffer)
{
    unsigned choice = model_next(input) % 8;
    memset(buffer, 'x', LUCID_NAME_LENGTH + 2);
    if (choice >= 4) buffer[1] = '\0', buffer[0] = (char)('a' + choice);
    else if (choice == 3) buffer[0] = '\0';
    else buffer[LUCID_NAME_LENGTH + (choice == 2)] = '\0';
    return choice == 0 ? NULL : buffer;
}

static int model_expect_start(const char *name, bool hidden, struct model_session *s)
{
    if (name && (name[0] == '\0' || strlen(name) > LUCID_NAME_LENGTH || model_find_name(name))) return LUCID_ERR_ARG;
    if (!hidden && model_visible() >= MODEL_LIMIT) return LUCID_ERR_OVERFLOW;
    if (name) memcpy(s->name, name, strlen(name) + 1);
    return model_activate(s);
}

static void model_start(struct model_input *input)
{
    char buffer[LUCID_NAME_LENGTH + 3];
    unsigned how = model_next(input);
    struct model_session s = {.hidden = how % 4 == 0, .serial = how % 3 ? ++model.serial : 0, .id = -7};
    const char *name = model_name(input, buffer);
    if (model.n == MODEL_SESSIONS) return;
    int expected = model_expect_start(name, s.hidden, &s);
    int rc = lucid_table_start(name, s.hidden, MODEL_LIMIT, (void *)(intptr_t)s.serial, &s.id);
    MODEL_CHECK(rc == expected);
    MODEL_CHECK(rc == LUCID_SUCCESS ? s.id > model.last_id : s.id == -7);
    MODEL_CHECK(model.releases == 0);
    if (rc != LUCID_SUCCESS) return;
    model.last_id = s.id;
    model.session[model.n++] = s;
}

static void model_send(struct model_input *input)
{
    unsigned where = model_next(input), bytes = model_next(input);
    model.now.count[where % MODEL_PEERS][where / 16 % MODEL_KINDS] += 1;
    model.now.bytes[where % MODEL_PEERS][where / 16 % MODEL_KINDS] += bytes;
    model.clock += 1;
}

/* What can be seen. */

static void model_compare_cells(const struct lucid_cells *cells, const struct model_traffic *traffic, bool bytes)
{
    size_t n = 0;
    for (uint32_t peer = 0; peer < MODEL_PEERS; peer++)
        for (uint32_t kind = 0; kind < MODEL_KINDS; kind++) {
            if (traffic->count[peer][kind] == 0) continue;
            MODEL_CHECK(n < cells->n && cells->cell[n].peer == peer && cells->cell[n].kind == kind);
            MODEL_CHECK(cells->cell[n].count == traffic->count[peer][kind]);
            MODEL_CHECK(cells->cell[n].bytes == (bytes ? traffic->bytes[peer][kind] : 0));
            n++;
        }
    MODEL_CHECK(n == cells->n);
}

static void model_compare_session(const struct model_session *s)
{
    struct lucid_session_data data;
    void *attachment = NULL;
    int id = 0;
    MODEL_CHECK(lucid_table_attachment(s->id, false, &attachment) == LUCID_SUCCESS);
    MODEL_CHECK((intptr_t)attachment == s->serial);
    MODEL_CHECK(lucid_table_attachment(s->id, true, &attachment) == (s->active ? LUCID_ERR_NOT_SUSPENDED : LUCID_SUCCESS));
    int found = s->name[0] && !s->hidden ? LUCID_SUCCESS : LUCID_ERR_NOT_FOUND;
    MODEL_CHECK(lucid_table_find(s->name, &id) == found && id == (found == LUCID_SUCCESS ? s->id : 0));
    int rc = lucid_table_copy(s->id, &data);
    MODEL_CHECK(rc == (s->active ? LUCID_ERR_NOT_SUSPENDED : LUCID_SUCCESS));
    if (rc != LUCID_SUCCESS) return;
    model_compare_cells(&data.cells, &s->data, true);
    model_compare_cells(&data.sizes, &s->data, false);
    MODEL_CHECK(data.seconds == s->seconds && strcmp(data.name, s->name) == 0);
    lucid_session_data_clear(&data);
}

static void model_compare(void)
{
    int *ids = NULL, n = 0;
    int listed = lucid_table_list(&ids);
    MODEL_CHECK(listed == model_visible());
    for (int i = 0; i < model.n; i++) {
        if (!model.session[i].hidden) MODEL_CHECK(ids[n++] == model.session[i].id);
        model_compare_session(&model.session[i]);
    }
    free(ids);
    MODEL_CHECK(model.listening == (model_active(false) > 0));
    MODEL_CHECK(model.reads == model.expected_reads);
}

static void model_step(struct model_input *input)
{
    unsigned op = model_next(input) % 16;
    int id = op >= 5 && op <= 12 ? model_pick(input) : 0;
    model.reads = model.expected_reads = model.releases = 0;
    if (op < 3) model_send(input);
    else if (op < 5) model_start(input);
    else if (op < 8) MODEL_CHECK(lucid_table_suspend(id) == model_change(id, true, model_suspend));
    else if (op < 10) MODEL_CHECK(lucid_table_continue(id) == model_change(id, false, model_activate));
    else if (op < 11) MODEL_CHECK(lucid_table_reset(id) == model_reset(id));
    else if (op < 13) MODEL_CHECK(lucid_table_free(id) == model_free(id));
    else if (op < 14) model.failing_read = (int)(model_next(input) % 4);
    else if (op < 15) model.failing_activate = model_next(input) % 4 == 0;
    else if (model_next(input) % 8 == 0) {
        int rc = lucid_table_clear(), expected = model_free(LUCID_TABLE_ALL);
        MODEL_CHECK(rc == (expected == LUCID_ERR_SESSION ? LUCID_SUCCESS : expected));
    }
    model_compare();
}

/** Plays all bytes, then frees everything: the table is empty afterwards. */
static inline void model_play(const uint8_t *bytes, size_t n)
{
    struct model_input input = {bytes, n};
    int last_id = model.last_id; /* identifiers are never given twice in a process */
    model = (struct model){.last_id = last_id};
    lucid_table_setup(&model_ops);
    while (input.left > 0) model_step(&input);
    model.failing_read = 0;
    for (int i = 0; i < model.n; i++)
        if (model.session[i].active) MODEL_CHECK(lucid_table_suspend(model.session[i].id) == LUCID_SUCCESS);
    for (int i = 0; i < model.n; i++) {
        model.releases = 0;
        MODEL_CHECK(lucid_table_free(model.session[i].id) == LUCID_SUCCESS);
    }
    MODEL_CHECK(!model.listening);
}

#endif
