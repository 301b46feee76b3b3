/* SPDX-License-Identifier: BSD-3-Clause
 * session_table.c: see session_table.h.
 *
 * Identifiers only grow, so a freed one stays invalid; the array is ordered by them. A session's data are the sum over
 * its active spells of (counters at the end - counters at the beginning).
 */
#include "session_table.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct session {
    int id;
    bool hidden;
    bool active;
    void *attachment;
    double since;                   /* when it last became active */
    struct lucid_cells start_cells; /* the counters then */
    struct lucid_cells start_sizes;
    struct lucid_session_data data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct lucid_table_ops *ops;
static struct session **sessions;
static int count, capacity, active_count, next_id = 1;

void lucid_table_setup(const struct lucid_table_ops *new_ops)
{
    pthread_mutex_lock(&lock);
    ops = new_ops;
    pthread_mutex_unlock(&lock);
}

static struct session *find(int id)
{
    int low = 0, high = count;
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (sessions[mid]->id < id) low = mid + 1;
        else high = mid;
    }
    return low < count && sessions[low]->id == id ? sessions[low] : NULL;
}

/** Visible sessions, and the active ones among them. */
static void tally(int *visible, int *active)
{
    *visible = *active = 0;
    for (int i = 0; i < count; i++) {
        *visible += !sessions[i]->hidden;
        *active += !sessions[i]->hidden && sessions[i]->active;
    }
}

static void clear_start(struct session *s)
{
    lucid_cells_clear(&s->start_cells);
    lucid_cells_clear(&s->start_sizes);
}

static void destroy(struct session *s)
{
    clear_start(s);
    lucid_session_data_clear(&s->data);
    free(s);
}

static int become_active(struct session *s)
{
    if (active_count == 0 && ops->activate() != 0) return LUCID_ERR_INTERNAL;
    if (ops->read(&s->start_cells, &s->start_sizes) != 0) {
        clear_start(s);
        if (active_count == 0) ops->deactivate();
        return LUCID_ERR_INTERNAL;
    }
    s->since = ops->seconds();
    s->active = true;
    active_count++;
    return LUCID_SUCCESS;
}

static int become_suspended(struct session *s)
{
    struct lucid_cells cells = {0}, sizes = {0};
    struct lucid_cells new_cells = {0}, new_sizes = {0};
    int rc = LUCID_ERR_INTERNAL;
    /* nothing of the session changes before all has succeeded: a suspend that failed can be repeated */
    if (ops->read(&cells, &sizes) == 0 && lucid_cells_sum(&s->data.cells, &cells, &s->start_cells, &new_cells) == 0 &&
        lucid_cells_sum(&s->data.sizes, &sizes, &s->start_sizes, &new_sizes) == 0) {
        lucid_session_data_clear(&s->data);
        s->data.cells = new_cells;
        s->data.sizes = new_sizes;
        s->data.seconds += ops->seconds() - s->since;
        s->active = false;
        clear_start(s);
        if (--active_count == 0) ops->deactivate();
        rc = LUCID_SUCCESS;
    } else {
        lucid_cells_clear(&new_cells);
    }
    lucid_cells_clear(&cells);
    lucid_cells_clear(&sizes);
    return rc;
}

static int insert(struct session *s)
{
    if (count == capacity) {
        int more = capacity ? capacity * 2 : 8;
        struct session **grown = realloc(sessions, (size_t)more * sizeof *grown);
        if (!grown) return LUCID_ERR_INTERNAL;
        sessions = grown;
        capacity = more;
    }
    s->id = next_id++;
    sessions[count++] = s;
    return LUCID_SUCCESS;
}

/** Nobody is found under the empty name, which is that of sessions without one. */
static struct session *find_name(const char *name)
{
    for (int i = 0; i < count && name[0]; i++)
        if (strcmp(sessions[i]->data.name, name) == 0) return sessions[i];
    return NULL;
}

static int check_new(const char *name, bool hidden, int limit)
{
    int visible, active;
    if (name && (name[0] == '\0' || strlen(name) > LUCID_NAME_LENGTH || find_name(name))) return LUCID_ERR_ARG;
    tally(&visible, &active);
    if ((!hidden && visible >= limit) || next_id == INT_MAX) return LUCID_ERR_OVERFLOW;
    return LUCID_SUCCESS;
}

int lucid_table_start(const char *name, bool hidden, int limit, void *attachment, int *id)
{
    struct session *s = calloc(1, sizeof *s);
    if (!s) return LUCID_ERR_INTERNAL;
    s->hidden = hidden;
    s->attachment = attachment;
    pthread_mutex_lock(&lock);
    int rc = check_new(name, hidden, limit);
    if (rc == LUCID_SUCCESS && name) strcpy(s->data.name, name);
    if (rc == LUCID_SUCCESS) rc = insert(s);
    if (rc == LUCID_SUCCESS && (rc = become_active(s)) != LUCID_SUCCESS) count--;
    if (rc == LUCID_SUCCESS) *id = s->id;
    pthread_mutex_unlock(&lock);
    if (rc != LUCID_SUCCESS) destroy(s);
    return rc;
}

/** Applies `change` to one session in state `from`, or to all visible ones in that state. */
static int change_state(int id, bool from, int (*change)(struct session *))
{
    int rc = LUCID_ERR_SESSION;
    pthread_mutex_lock(&lock);
    if (id != LUCID_TABLE_ALL) {
        struct session *s = find(id);
        if (s) rc = s->active == from ? change(s) : LUCID_ERR_MULTIPLE_CALL;
    } else {
        int visible, active;
        tally(&visible, &active);
        if (visible > 0) rc = (from ? active : visible - active) > 0 ? LUCID_SUCCESS : LUCID_ERR_MULTIPLE_CALL;
        for (int i = 0; i < count && rc == LUCID_SUCCESS; i++)
            if (!sessions[i]->hidden && sessions[i]->active == from) rc = change(sessions[i]);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int lucid_table_suspend(int id)
{
    return change_state(id, true, become_suspended);
}

int lucid_table_continue(int id)
{
    return change_state(id, false, become_active);
}

/** Whether reset or free may act on `id`. */
static int check_idle(int id)
{
    if (id != LUCID_TABLE_ALL) {
        struct session *s = find(id);
        return !s ? LUCID_ERR_SESSION : s->active ? LUCID_ERR_NOT_SUSPENDED : LUCID_SUCCESS;
    }
    int visible, active;
    tally(&visible, &active);
    return active > 0 ? LUCID_ERR_STILL_ACTIVE : visible == 0 ? LUCID_ERR_SESSION : LUCID_SUCCESS;
}

static void reset(struct session *s)
{
    lucid_cells_clear(&s->data.cells);
    lucid_cells_clear(&s->data.sizes);
    s->data.seconds = 0;
}

int lucid_table_reset(int id)
{
    pthread_mutex_lock(&lock);
    int rc = check_idle(id);
    for (int i = 0; i < count && rc == LUCID_SUCCESS; i++)
        if (id == LUCID_TABLE_ALL ? !sessions[i]->hidden : sessions[i]->id == id) reset(sessions[i]);
    pthread_mutex_unlock(&lock);
    return rc;
}

/** Takes the first matching session out of the table; NULL when there is none. */
static struct session *take(int id)
{
    for (int i = 0; i < count; i++) {
        struct session *s = sessions[i];
        if (s->active || (id == LUCID_TABLE_ALL ? s->hidden : s->id != id)) continue;
        memmove(&sessions[i], &sessions[i + 1], (size_t)(count - i - 1) * sizeof *sessions);
        count--;
        return s;
    }
    return NULL;
}

int lucid_table_free(int id)
{
    pthread_mutex_lock(&lock);
    int rc = check_idle(id);
    struct session *s;
    while (rc == LUCID_SUCCESS && (s = take(id))) {
        /* the release may communicate: other threads must be able to use their sessions meanwhile */
        pthread_mutex_unlock(&lock);
        if (s->attachment) ops->release(s->attachment);
        destroy(s);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int lucid_table_clear(void)
{
    int rc = lucid_table_free(LUCID_TABLE_ALL);
    return rc == LUCID_ERR_SESSION ? LUCID_SUCCESS : rc;
}

int lucid_table_attachment(int id, bool suspended, void **attachment)
{
    pthread_mutex_lock(&lock);
    struct session *s = find(id);
    int rc = !s ? LUCID_ERR_SESSION : suspended && s->active ? LUCID_ERR_NOT_SUSPENDED : LUCID_SUCCESS;
    if (rc == LUCID_SUCCESS) *attachment = s->attachment;
    pthread_mutex_unlock(&lock);
    return rc;
}

int lucid_table_copy(int id, struct lucid_session_data *data)
{
    struct lucid_session_data copy = {0};
    pthread_mutex_lock(&lock);
    struct session *s = find(id);
    int rc = !s ? LUCID_ERR_SESSION : s->active ? LUCID_ERR_NOT_SUSPENDED : LUCID_SUCCESS;
    if (rc == LUCID_SUCCESS) {
        copy.seconds = s->data.seconds;
        memcpy(copy.name, s->data.name, sizeof copy.name);
        if (lucid_cells_add_difference(&copy.cells, &s->data.cells, NULL) != 0 ||
            lucid_cells_add_difference(&copy.sizes, &s->data.sizes, NULL) != 0)
            rc = LUCID_ERR_INTERNAL;
    }
    pthread_mutex_unlock(&lock);
    if (rc == LUCID_SUCCESS) *data = copy;
    else lucid_session_data_clear(&copy);
    return rc;
}

void lucid_session_data_clear(struct lucid_session_data *data)
{
    lucid_cells_clear(&data->cells);
    lucid_cells_clear(&data->sizes);
}

int lucid_table_find(const char *name, int *id)
{
    pthread_mutex_lock(&lock);
    struct session *s = find_name(name);
    if (s && !s->hidden) *id = s->id;
    pthread_mutex_unlock(&lock);
    return s && !s->hidden ? LUCID_SUCCESS : LUCID_ERR_NOT_FOUND;
}

int lucid_table_list(int **ids)
{
    int n = 0;
    pthread_mutex_lock(&lock);
    *ids = malloc((size_t)(count ? count : 1) * sizeof **ids);
    for (int i = 0; *ids && i < count; i++)
        if (!sessions[i]->hidden) (*ids)[n++] = sessions[i]->id;
    pthread_mutex_unlock(&lock);
    return *ids ? n : -1;
}

size_t lucid_table_memory(void)
{
    pthread_mutex_lock(&lock);
    size_t bytes = (size_t)capacity * sizeof *sessions;
    for (int i = 0; i < count; i++)
        bytes += sizeof **sessions + lucid_cells_memory(&sessions[i]->start_cells) +
                 lucid_cells_memory(&sessions[i]->start_sizes) + lucid_cells_memory(&sessions[i]->data.cells) +
                 lucid_cells_memory(&sessions[i]->data.sizes);
    pthread_mutex_unlock(&lock);
    return bytes;
}
