/* The loops that a reduced read spends its time in: running sums of decimals, the order of rows, candidates, and the
 * choice of samples.
 *
 * Each gives the same bits as the code with numpy in `codec.py` and `sample_selection.py`, which is used where this file
 * was not compiled and for what it leaves alone: `tests/store/test_compiled_loops.py` compares them. So it may not be
 * compiled with fused multiply-add, nor with -ffast-math. Arrays come as buffers; whoever calls makes them.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Rises with each change of what a function takes or gives; `compiled.py` has the same number. */
enum { VERSION = 3 };

/* ---- running sums ------------------------------------------------------------------------------------------- */

enum { BLOCK = 256 };

/* It may lie between two places for eight bytes. */
static uint64_t wide_step(const char *wide, Py_ssize_t place)
{
    uint64_t step;
    memcpy(&step, wide + 8 * place, 8);
    return step;
}

/* `out[k - from]` is the sum of `first` and the first k steps, divided, for each k of `from` to before `n`. At each of
 * `places` the step is the next of `wide`. Sums of a block that cannot leave 32 bits become doubles several at once;
 * `reach` is how far a block can go. */
#define RUNNING(type, reach)                                                                                       \
    static void running_##type(int64_t first, const type *steps, const uint32_t *places, const char *wide,         \
                               Py_ssize_t apart, double divisor, double *out, Py_ssize_t from, Py_ssize_t n)       \
    {                                                                                                              \
        int32_t narrow[BLOCK];                                                                                     \
        int64_t sums[BLOCK];                                                                                       \
        uint64_t sum = (uint64_t)first;                                                                            \
        Py_ssize_t at = from + 1, next = 0;                                                                        \
        for (Py_ssize_t k = 0; k < from; k++) sum += (uint64_t)(int64_t)steps[k];                                  \
        for (; next < apart && (Py_ssize_t)places[next] < from; next++)                                            \
            sum += wide_step(wide, next) - (uint64_t)(int64_t)steps[places[next]];                                 \
        out[0] = (double)(int64_t)sum / divisor;                                                                   \
        while (at < n) {                                                                                           \
            Py_ssize_t stop = n - at < BLOCK ? n : at + BLOCK;                                                     \
            double *to = out + (at - from);                                                                        \
            if (next < apart && (Py_ssize_t)places[next] + 1 < stop) stop = (Py_ssize_t)places[next] + 1;          \
            int64_t here = (int64_t)sum;                                                                           \
            if (here > (reach) - INT32_MAX && here < INT32_MAX - (reach)) {                                        \
                int32_t part = (int32_t)here;                                                                      \
                for (Py_ssize_t k = at; k < stop; k++) narrow[k - at] = part += steps[k - 1];                      \
                for (Py_ssize_t k = 0; k < stop - at; k++) to[k] = (double)narrow[k] / divisor;                    \
                sum = (uint64_t)(int64_t)part;                                                                     \
            } else {                                                                                               \
                for (Py_ssize_t k = at; k < stop; k++) sums[k - at] = (int64_t)(sum += (uint64_t)(int64_t)steps[k - 1]); \
                for (Py_ssize_t k = 0; k < stop - at; k++) to[k] = (double)sums[k] / divisor;                      \
            }                                                                                                      \
            at = stop;                                                                                             \
            if (next < apart && (Py_ssize_t)places[next] + 1 == at && at < n) {                                    \
                sum += wide_step(wide, next++);                                                                    \
                out[at++ - from] = (double)(int64_t)sum / divisor;                                                 \
            }                                                                                                      \
        }                                                                                                          \
    }
RUNNING(int8_t, BLOCK * (int64_t)128)
RUNNING(int16_t, BLOCK * (int64_t)32768)
RUNNING(int32_t, (int64_t)INT32_MAX)

/* Whether each place is that of a step and greater than the one before. */
static int are_places(const uint32_t *places, Py_ssize_t apart, Py_ssize_t steps)
{
    for (Py_ssize_t k = 0; k < apart; k++)
        if (places[k] >= steps || (k && places[k] <= places[k - 1])) return 0;
    return 1;
}

static PyObject *running(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Py_buffer steps, beside, out;
    if (count != 6) return PyErr_Format(PyExc_TypeError, "running takes 6 arguments");
    int64_t first = PyLong_AsLongLong(args[0]);
    double divisor = PyFloat_AsDouble(args[3]);
    Py_ssize_t from = PyLong_AsSsize_t(args[5]);
    if (PyErr_Occurred() || PyObject_GetBuffer(args[1], &steps, PyBUF_C_CONTIGUOUS) < 0) return NULL;
    if (PyObject_GetBuffer(args[2], &beside, PyBUF_C_CONTIGUOUS) < 0) goto after_steps;
    if (PyObject_GetBuffer(args[4], &out, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0) goto after_beside;
    Py_ssize_t many = out.len / 8, apart = beside.len / 12;
    Py_ssize_t all = steps.itemsize ? steps.len / steps.itemsize : 0;
    const char *wide = (const char *)beside.buf + 4 * apart;
    if (out.itemsize != 8 || many < 1 || from < 0 || from > all || many > all + 1 - from) {
        PyErr_SetString(PyExc_ValueError, "the differences and the first value are fewer than the values asked for");
    } else if (!are_places(beside.buf, apart, all)) {
        PyErr_SetString(PyExc_ValueError, "the places of wide differences do not rise within the others");
    } else if (steps.itemsize == 1) {
        running_int8_t(first, steps.buf, beside.buf, wide, apart, divisor, out.buf, from, from + many);
    } else if (steps.itemsize == 2) {
        running_int16_t(first, steps.buf, beside.buf, wide, apart, divisor, out.buf, from, from + many);
    } else if (steps.itemsize == 4) {
        running_int32_t(first, steps.buf, beside.buf, wide, apart, divisor, out.buf, from, from + many);
    } else {
        PyErr_SetString(PyExc_ValueError, "differences have 1, 2 or 4 bytes");
    }
    PyBuffer_Release(&out);
after_beside:
    PyBuffer_Release(&beside);
after_steps:
    PyBuffer_Release(&steps);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* ---- bytes of equal weight side by side ---------------------------------------------------------------------- */

/* `out[k - from]` is the value k of `all`, for n of them. Stepped ones are sums of differences. */
#define JOINED(width, type)                                                                                        \
    static type bits_##width(const uint8_t *planes, Py_ssize_t all, Py_ssize_t k)                                  \
    {                                                                                                              \
        type bits = 0;                                                                                             \
        for (int plane = 0; plane < width; plane++) bits |= (type)planes[plane * all + k] << (8 * plane);          \
        return bits;                                                                                               \
    }                                                                                                              \
    static void joined_##width(const uint8_t *planes, Py_ssize_t all, int stepped, type *out, Py_ssize_t from,     \
                               Py_ssize_t n)                                                                       \
    {                                                                                                              \
        for (Py_ssize_t k = 0; k < n; k++) out[k] = bits_##width(planes, all, from + k);                           \
        type sum = 0;                                                                                              \
        for (Py_ssize_t k = 0; stepped && k < from; k++) {                                                         \
            type bits = bits_##width(planes, all, k);                                                              \
            sum += (bits >> 1) ^ (~(bits & 1) + 1);                                                                \
        }                                                                                                          \
        for (Py_ssize_t k = 0; stepped && k < n; k++) out[k] = sum += (out[k] >> 1) ^ (~(out[k] & 1) + 1);         \
    }
JOINED(4, uint32_t)
JOINED(8, uint64_t)

static PyObject *joined(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Py_buffer planes, out;
    if (count != 4) return PyErr_Format(PyExc_TypeError, "joined takes 4 arguments");
    int stepped = PyObject_IsTrue(args[1]);
    Py_ssize_t from = PyLong_AsSsize_t(args[3]);
    if (PyErr_Occurred() || stepped < 0 || PyObject_GetBuffer(args[0], &planes, PyBUF_C_CONTIGUOUS) < 0) return NULL;
    if (PyObject_GetBuffer(args[2], &out, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0) {
        PyBuffer_Release(&planes);
        return NULL;
    }
    int fits = (out.itemsize == 4 || out.itemsize == 8) && planes.len % out.itemsize == 0;
    Py_ssize_t n = fits ? out.len / out.itemsize : 0, all = fits ? planes.len / out.itemsize : 0;
    if (!fits || from < 0 || from > all || n > all - from) {
        PyErr_SetString(PyExc_ValueError, "the planes have as many bytes as values of 4 or 8 bytes, or more");
    } else if (out.itemsize == 4) {
        joined_4(planes.buf, all, stepped, out.buf, from, n);
    } else {
        joined_8(planes.buf, all, stepped, out.buf, from, n);
    }
    PyBuffer_Release(&planes);
    PyBuffer_Release(&out);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* ---- columns ------------------------------------------------------------------------------------------------ */

#define MOST_COLUMNS 64

typedef struct {
    Py_buffer held[MOST_COLUMNS];
    const double *values[MOST_COLUMNS];
    int count;
    Py_ssize_t n;
} Columns;

static void released(Columns *columns)
{
    for (int c = 0; c < columns->count; c++) PyBuffer_Release(&columns->held[c]);
}

/* The columns of a tuple of contiguous arrays of doubles of one length. */
static int columns_of(PyObject *given, Columns *columns)
{
    columns->count = 0;
    columns->n = 0;
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "the columns are a tuple");
        return -1;
    }
    Py_ssize_t many = PyTuple_Size(given);
    if (many > MOST_COLUMNS) {
        PyErr_SetString(PyExc_ValueError, "there are too many columns");
        return -1;
    }
    for (Py_ssize_t c = 0; c < many; c++) {
        PyObject *one = PyTuple_GetItem(given, c);
        if (one == NULL || PyObject_GetBuffer(one, &columns->held[c], PyBUF_C_CONTIGUOUS) < 0) {
            released(columns);
            return -1;
        }
        columns->count = (int)c + 1;
        columns->values[c] = columns->held[c].buf;
        if (c == 0) columns->n = columns->held[c].len / 8;
        if (columns->held[c].itemsize != 8 || columns->held[c].len / 8 != columns->n) {
            PyErr_SetString(PyExc_ValueError, "the columns are doubles of one length");
            released(columns);
            return -1;
        }
    }
    return 0;
}

/* In whole numbers, which a compiler does several at once of: their bits are below those of infinity. */
static int all_finite(const double *values, Py_ssize_t n)
{
    uint64_t beyond = 0;
    for (Py_ssize_t k = 0; k < n; k++) {
        uint64_t bits;
        memcpy(&bits, &values[k], 8);
        beyond |= 0x7fefffffffffffffu - (bits & 0x7fffffffffffffffu);
    }
    return !(beyond >> 63);
}

/* ---- candidates --------------------------------------------------------------------------------------------- */

static void extremes_of(const double *v, Py_ssize_t start, Py_ssize_t stop, uint8_t *kept)
{
    Py_ssize_t low = start, high = start;
    double least = v[start], most = v[start];
    for (Py_ssize_t k = start + 1; k < stop; k++) {
        if (v[k] < least) { least = v[k]; low = k; }
        if (v[k] > most) { most = v[k]; high = k; }
    }
    if (low > start && v[stop - 1] == least) low = stop - 1;
    if (high > start && v[stop - 1] == most) high = stop - 1;
    kept[low] = kept[high] = 1;
}

static PyObject *candidates(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Columns columns;
    Py_buffer kept;
    if (count != 3) return PyErr_Format(PyExc_TypeError, "candidates takes 3 arguments");
    Py_ssize_t size = PyLong_AsSsize_t(args[1]);
    if (PyErr_Occurred()) return NULL;
    if (columns_of(args[0], &columns) < 0) return NULL;
    if (PyObject_GetBuffer(args[2], &kept, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0) {
        released(&columns);
        return NULL;
    }
    int done = 1;
    Py_ssize_t n = kept.len;
    if (size < 1 || (columns.count && columns.n != n)) {
        PyErr_SetString(PyExc_ValueError, "the mask has a place for each row");
    } else {
        for (int c = 0; c < columns.count && done; c++) done = all_finite(columns.values[c], n);
        uint8_t *mask = kept.buf;
        for (Py_ssize_t start = 0; done && start < n; start += size) {
            Py_ssize_t stop = start + size < n ? start + size : n;
            mask[start] = mask[stop - 1] = 1;
            for (int c = 0; c < columns.count; c++) extremes_of(columns.values[c], start, stop, mask);
        }
    }
    released(&columns);
    PyBuffer_Release(&kept);
    if (PyErr_Occurred()) return NULL;
    return PyBool_FromLong(done);
}

/* ---- the order of kept rows --------------------------------------------------------------------------------- */

/* The rows of some buckets, `lists` of one row each, as rising numbers without repeats, and the place of each. How many
 * there are; -1 where the rows of a bucket do not follow those of the one before. */
static Py_ssize_t rows_in_order(const int64_t *rows, Py_ssize_t lists, Py_ssize_t buckets, int64_t *order, int64_t *kept)
{
    Py_ssize_t many = 0;
    for (Py_ssize_t b = 0; b < buckets; b++) {
        Py_ssize_t begin = many;
        for (Py_ssize_t l = 0; l < lists; l++) {
            int64_t row = rows[l * buckets + b];
            Py_ssize_t at = many;
            while (at > begin && kept[at - 1] > row) at--;
            if (at > begin && kept[at - 1] == row) continue;
            for (Py_ssize_t k = many; k > at; k--) {
                kept[k] = kept[k - 1];
                order[k] = order[k - 1];
            }
            kept[at] = row;
            order[at] = l * buckets + b;
            many++;
        }
        if (begin && many > begin && kept[begin] <= kept[begin - 1]) return -1;
    }
    return many;
}

static PyObject *ordered(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Py_buffer rows, order, kept;
    if (count != 4) return PyErr_Format(PyExc_TypeError, "ordered takes 4 arguments");
    Py_ssize_t lists = PyLong_AsSsize_t(args[1]), many = -1;
    if (PyErr_Occurred() || PyObject_GetBuffer(args[0], &rows, PyBUF_C_CONTIGUOUS) < 0) return NULL;
    if (PyObject_GetBuffer(args[2], &order, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0) goto after_rows;
    if (PyObject_GetBuffer(args[3], &kept, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0) goto after_order;
    Py_ssize_t n = rows.len / 8;
    if (rows.itemsize != 8 || order.len != rows.len || kept.len != rows.len || lists < 1 || n % lists) {
        PyErr_SetString(PyExc_ValueError, "each list has a row of each bucket, and there is a place for each row");
    } else {
        many = rows_in_order(rows.buf, lists, n / lists, order.buf, kept.buf);
    }
    PyBuffer_Release(&kept);
after_order:
    PyBuffer_Release(&order);
after_rows:
    PyBuffer_Release(&rows);
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(many);
}

/* ---- choice ------------------------------------------------------------------------------------------------- */

typedef struct {
    Py_ssize_t n, pixels, runs;
    const double *x;
    uint8_t *kept;
    int32_t *pixel, *starts, *own, *before;
    double *edges, *low, *high, *nodes_x, *nodes_y, *crossing, *scores, *ranked;
    int64_t *nodes, *places;
} Work;

static void spread(Work *w, Py_ssize_t count)
{
    if (count <= 0) return;
    Py_ssize_t free_count = 0;
    for (Py_ssize_t k = 0; k < w->n; k++) {
        w->nodes[free_count] = k;
        free_count += !w->kept[k];
    }
    for (Py_ssize_t k = 0; k < count; k++) w->kept[w->nodes[(k * 2 + 1) * free_count / (2 * count)]] = 1;
}

/* The last node at or before each edge of a pixel column, for all curves: -1 before the first node. */
static void nodes_before_edges(Work *w, Py_ssize_t many)
{
    Py_ssize_t j = -1;
    for (Py_ssize_t e = 0; e <= w->pixels; e++) {
        while (j + 1 < many && w->nodes_x[j + 1] <= w->edges[e]) j++;
        w->before[e] = (int32_t)j;
    }
}

/* What the line through the nodes covers in each pixel column and the ones beside it. */
static void covered(Work *w, const double *y, Py_ssize_t many)
{
    Py_ssize_t pixels = w->pixels;
    double *xs = w->nodes_x, *ys = w->nodes_y;
    for (Py_ssize_t k = 0; k < many; k++) ys[k] = y[w->nodes[k]] / 2;
    for (Py_ssize_t e = 0; e <= pixels; e++) {
        double at = w->edges[e], found;
        Py_ssize_t j = w->before[e];
        if (j < 0) found = ys[0];
        else if (j == many - 1 || xs[j] == at) found = ys[j];
        else {
            double slope = (ys[j + 1] - ys[j]) / (xs[j + 1] - xs[j]);
            found = slope * (at - xs[j]) + ys[j];
            if (isnan(found)) {
                found = slope * (at - xs[j + 1]) + ys[j + 1];
                if (isnan(found) && ys[j] == ys[j + 1]) found = ys[j];
            }
        }
        w->crossing[e] = found;
    }
    double *low = w->low + 1, *high = w->high + 1;
    for (Py_ssize_t p = 0; p < pixels; p++) {
        double a = w->crossing[p], b = w->crossing[p + 1];
        low[p] = a < b ? a : b;
        high[p] = a > b ? a : b;
    }
    for (Py_ssize_t k = 0; k < many; k++) {
        int32_t p = w->own[k];
        low[p] = ys[k] < low[p] ? ys[k] : low[p];
        high[p] = ys[k] > high[p] ? ys[k] : high[p];
    }
    low[-1] = low[0]; low[pixels] = low[pixels - 1];
    high[-1] = high[0]; high[pixels] = high[pixels - 1];
}

static double least_of(const double *v) { double m = v[-1] < v[0] ? v[-1] : v[0]; return m < v[1] ? m : v[1]; }
static double most_of(const double *v) { double m = v[-1] > v[0] ? v[-1] : v[0]; return m > v[1] ? m : v[1]; }

/* Scores that no neighbour exceeds, and 0 for the others. Here and below hardly a branch depends on noise. */
static void peaks(const double *restrict scores, double *restrict peak, Py_ssize_t n)
{
    peak[0] = n < 2 || scores[0] >= scores[1] ? scores[0] : 0;
    for (Py_ssize_t k = 1; k + 1 < n; k++) {
        double here = scores[k];
        peak[k] = (here > scores[k - 1]) & (here >= scores[k + 1]) ? here : 0;
    }
    if (n > 1) peak[n - 1] = scores[n - 1] > scores[n - 2] ? scores[n - 1] : 0;
}

/* The k-th greatest value, k from 0; the order of the values changes. */
static double greatest(double *v, Py_ssize_t n, Py_ssize_t k)
{
    Py_ssize_t left = 0, right = n - 1;
    while (left < right) {
        double pivot = v[(left + right) / 2];
        Py_ssize_t i = left, j = right;
        while (i <= j) {
            while (v[i] > pivot) i++;
            while (v[j] < pivot) j--;
            if (i <= j) { double t = v[i]; v[i] = v[j]; v[j] = t; i++; j--; }
        }
        if (k <= j) right = j;
        else if (k >= i) left = i;
        else break;
    }
    return v[k];
}

static void add(Work *w, Py_ssize_t many, Py_ssize_t count)
{
    Py_ssize_t wanted = 0;
    for (Py_ssize_t k = 0; k < many; k++) {
        double score = w->scores[k];
        int counts = (score > 1e-9) & !w->kept[w->places[k]];
        w->ranked[wanted] = score;
        w->scores[k] = counts ? score : 0;
        wanted += counts;
    }
    if (count <= 0) return;
    double bound = 0;
    Py_ssize_t equal = 0;
    if (wanted > count) {
        bound = greatest(w->ranked, wanted, count - 1);
        Py_ssize_t above = 0;
        for (Py_ssize_t k = 0; k < many; k++) above += w->scores[k] > bound;
        equal = count - above;
    }
    for (Py_ssize_t k = 0; k < many; k++) w->kept[w->places[k]] |= w->scores[k] > bound;
    for (Py_ssize_t k = 0; k < many && equal > 0; k++)
        if (w->scores[k] == bound) { w->kept[w->places[k]] = 1; equal--; }
}

static Py_ssize_t nodes_of(Work *w)
{
    Py_ssize_t many = 0;
    for (Py_ssize_t k = 0; k < w->n; k++) {
        w->nodes[many] = k;
        many += w->kept[k];
    }
    for (Py_ssize_t k = 0; k < many; k++) {
        w->nodes_x[k] = w->x[w->nodes[k]];
        w->own[k] = w->pixel[w->nodes[k]];
    }
    return many;
}

static int chosen(Work *w, const Columns *columns, Py_ssize_t most)
{
    const double *curves[MOST_COLUMNS];
    double *lows[MOST_COLUMNS], *highs[MOST_COLUMNS], scales[MOST_COLUMNS];
    Py_ssize_t n = w->n, left = most - 2;
    int many = 0;
    w->kept[0] = w->kept[n - 1] = 1;
    for (int c = 0; c < columns->count; c++) {
        const double *v = columns->values[c];
        Py_ssize_t ends[2] = {0, 0};
        for (Py_ssize_t k = 1; k < n; k++) {
            if (v[k] < v[ends[0]]) ends[0] = k;
            if (v[k] > v[ends[1]]) ends[1] = k;
        }
        for (int side = 0; side < 2; side++)
            if (left > 0 && !w->kept[ends[side]]) { w->kept[ends[side]] = 1; left--; }
        if (v[ends[0]] < v[ends[1]]) curves[many++] = v;
    }
    spread(w, most / 4 < left ? most / 4 : left);
    double width = w->x[n - 1] - w->x[0], factor = (double)w->pixels / width;
    w->runs = 0;
    int32_t before = -1;
    for (Py_ssize_t k = 0; k < n; k++) {
        int64_t p = (int64_t)((w->x[k] - w->x[0]) * factor);
        int32_t pixel = (int32_t)(p < w->pixels - 1 ? p : w->pixels - 1);
        w->pixel[k] = pixel;
        w->starts[w->runs] = (int32_t)k;
        w->runs += pixel != before;
        before = pixel;
    }
    w->starts[w->runs] = (int32_t)n;
    double step = width / (double)w->pixels;
    for (Py_ssize_t e = 0; e < w->pixels; e++) w->edges[e] = (double)e * step + w->x[0];
    w->edges[w->pixels] = w->x[n - 1];
    Py_ssize_t runs = w->runs;
    double *room = malloc(sizeof(double) * 2 * (size_t)(many ? many : 1) * (size_t)runs);
    w->scores = malloc(sizeof(double) * 2 * (size_t)(many ? many : 1) * (size_t)runs);
    w->ranked = malloc(sizeof(double) * 2 * (size_t)(many ? many : 1) * (size_t)runs);
    w->places = malloc(sizeof(int64_t) * 2 * (size_t)(many ? many : 1) * (size_t)runs);
    if (!room || !w->scores || !w->ranked || !w->places) { free(room); return -1; }
    for (int c = 0; c < many; c++) {
        double least = INFINITY, most_seen = -INFINITY;
        lows[c] = room + 2 * (size_t)c * (size_t)runs;
        highs[c] = lows[c] + runs;
        int64_t *above = w->places + 2 * (size_t)c * (size_t)runs, *below = above + runs;
        for (Py_ssize_t r = 0; r < runs; r++) {
            int32_t begin = w->starts[r], end = w->starts[r + 1], low = begin, high = begin;
            double bottom = curves[c][begin], top = bottom;
            for (int32_t k = begin + 1; k < end; k++) {
                double here = curves[c][k];
                bottom = here < bottom ? here : bottom;
                top = here > top ? here : top;
            }
            /* Of equal ones the first. */
            for (int32_t k = end - 1; k >= begin; k--) {
                low = curves[c][k] == bottom ? k : low;
                high = curves[c][k] == top ? k : high;
            }
            above[r] = high;
            below[r] = low;
            highs[c][r] = top / 2;
            lows[c][r] = bottom / 2;
            if (lows[c][r] < least) least = lows[c][r];
            if (highs[c][r] > most_seen) most_seen = highs[c][r];
        }
        scales[c] = 1 / (most_seen - least > 1e-300 ? most_seen - least : 1e-300);
    }
    for (int turn = 0; many && turn < 2; turn++) {
        Py_ssize_t nodes = nodes_of(w), free_places = most - nodes;
        nodes_before_edges(w, nodes);
        for (int c = 0; c < many; c++) {
            covered(w, curves[c], nodes);
            double *above = w->ranked, *below = above + runs, *peak = w->scores + 2 * (size_t)c * (size_t)runs;
            for (Py_ssize_t r = 0; r < runs; r++) {
                int32_t p = w->pixel[w->starts[r]];
                above[r] = (highs[c][r] - most_of(w->high + 1 + p)) * scales[c];
                below[r] = (least_of(w->low + 1 + p) - lows[c][r]) * scales[c];
            }
            peaks(above, peak, runs);
            peaks(below, peak + runs, runs);
        }
        add(w, 2 * many * runs, turn ? free_places : (free_places + 1) / 2);
    }
    Py_ssize_t held = 0;
    for (Py_ssize_t k = 0; k < n; k++) held += w->kept[k];
    spread(w, most - held);
    free(room);
    return 0;
}

static PyObject *choose(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Columns columns;
    Py_buffer x, kept;
    if (count != 4) return PyErr_Format(PyExc_TypeError, "choose takes 4 arguments");
    Py_ssize_t most = PyLong_AsSsize_t(args[2]);
    if (PyErr_Occurred()) return NULL;
    if (columns_of(args[1], &columns) < 0) return NULL;
    if (PyObject_GetBuffer(args[0], &x, PyBUF_C_CONTIGUOUS) < 0) {
        released(&columns);
        return NULL;
    }
    if (PyObject_GetBuffer(args[3], &kept, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0) {
        released(&columns);
        PyBuffer_Release(&x);
        return NULL;
    }
    Py_ssize_t n = kept.len;
    const double *along = x.buf;
    int done = 0;
    if (x.itemsize != 8 || x.len / 8 != n || (columns.count && columns.n != n) || most < 2 || n <= most || n > INT32_MAX - 1) {
        PyErr_SetString(PyExc_ValueError, "x and the columns have a double for each place of the mask");
    } else {
        double factor = (double)(most / 2 > 1 ? most / 2 : 1) / (along[n - 1] - along[0]);
        done = along[n - 1] > along[0] && isfinite(factor) && all_finite(along, n);
        for (Py_ssize_t k = 1; k < n && done; k++) done = along[k] >= along[k - 1];
        for (int c = 0; c < columns.count && done; c++) done = all_finite(columns.values[c], n);
    }
    if (done) {
        Work w = {.n = n, .pixels = most / 2 > 1 ? most / 2 : 1, .x = along, .kept = kept.buf};
        size_t p = (size_t)w.pixels + 3, m = (size_t)n + 1;
        char *room = malloc(sizeof(int64_t) * m + sizeof(double) * (2 * m + 4 * p) + sizeof(int32_t) * (3 * m + p));
        if (room) {
            w.nodes = (int64_t *)room;
            w.nodes_x = (double *)(w.nodes + m);
            w.nodes_y = w.nodes_x + m;
            w.edges = w.nodes_y + m;
            w.crossing = w.edges + p;
            w.low = w.crossing + p;
            w.high = w.low + p;
            w.pixel = (int32_t *)(w.high + p);
            w.starts = w.pixel + m;
            w.own = w.starts + m;
            w.before = w.own + m;
        }
        int failed = room == NULL || chosen(&w, &columns, most) < 0;
        free(w.scores);
        free(w.ranked);
        free(w.places);
        free(room);
        if (failed) PyErr_NoMemory();
    }
    released(&columns);
    PyBuffer_Release(&x);
    PyBuffer_Release(&kept);
    if (PyErr_Occurred()) return NULL;
    return PyBool_FromLong(done);
}

static PyMethodDef methods[] = {
    {"running", (PyCFunction)(void (*)(void))running, METH_FASTCALL, "running(first, steps, beside, divisor, out, start)"},
    {"joined", (PyCFunction)(void (*)(void))joined, METH_FASTCALL, "joined(planes, stepped, out, start)"},
    {"candidates", (PyCFunction)(void (*)(void))candidates, METH_FASTCALL, "candidates(columns, size, kept)"},
    {"ordered", (PyCFunction)(void (*)(void))ordered, METH_FASTCALL, "ordered(rows, lists, order, kept)"},
    {"choose", (PyCFunction)(void (*)(void))choose, METH_FASTCALL, "choose(x, columns, most, kept)"},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "compiled_loops", NULL, 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_compiled_loops(void)
{
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && PyModule_AddIntConstant(made, "VERSION", VERSION) < 0) {
        Py_DECREF(made);
        return NULL;
    }
    return made;
}
