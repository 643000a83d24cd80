/* Cuts plain text into columns of numbers and texts, with the same bits as the parser of pandas.
 *
 * `plain_rows.py` says what is plain, and gives all other text to pandas; `tests/readers/test_plain_rows.py` compares
 * both. Arrays come as buffers; whoever calls makes them.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Rises with each change of what a function takes or gives; `plain_rows.py` has the same number. */
enum { VERSION = 1 };

/* What the cells of a column are. */
enum { MISSING = 1, WHOLE = 2, BROKEN = 4, WORD = 8, STRANGE = 16 };

enum { DIGITS_OF_WHOLE = 15, MOST_DIGITS = 19, MOST_EXPONENT = 64, LONGEST_MISSING = 16 };

typedef struct {
    const char *end; /* a line ends before it, or a zero is there */
    char delimiter, decimal;
    const char *missing; /* texts that stand for nothing, each below its length; a zero ends them */
    const uint64_t *powers; /* the 128 most significant bits of each power of five from -64 to 64, high before low */
} Form;

static int is_digit(char c) { return (unsigned char)(c - '0') < 10; }

static int ends_cell(const char *p, const Form *form)
{
    return *p == form->delimiter || *p == '\n' || (*p == '\r' && p[1] == '\n') || p == form->end;
}

static uint64_t product(uint64_t a, uint64_t b, uint64_t *low)
{
    unsigned __int128 made = (unsigned __int128)a * b;
    *low = (uint64_t)made;
    return (uint64_t)(made >> 64);
}

/* The double next to digits * 10^exponent: D. Lemire, "Number parsing at a gigabyte per second", Software: Practice and
 * Experience 51 (2021) 1700, which N. Mushtak and D. Lemire (2023) showed to need no other way for up to 19 digits. With
 * exponents from -64 to 64 no double is too large or too small for all of its bits. */
static double scaled(uint64_t digits, int exponent, const Form *form)
{
    if (!digits || !exponent) return (double)digits;
    const uint64_t *power = form->powers + 2 * (exponent + MOST_EXPONENT);
    int shift = __builtin_clzll(digits);
    uint64_t low, high = product(digits << shift, power[0], &low);
    if ((high & 0x1FF) == 0x1FF) { /* what is left out may be carried into the bits that count */
        uint64_t below, more = product(digits << shift, power[1], &below);
        low += more;
        if (low < more) high++;
    }
    int top = (int)(high >> 63);
    uint64_t mantissa = high >> (top + 9);
    /* Half between two doubles: the even one, where the product is exact. */
    if (low <= 1 && exponent >= -4 && exponent <= 23 && (mantissa & 3) == 1 && mantissa << (top + 9) == high)
        mantissa &= ~(uint64_t)1;
    mantissa += mantissa & 1;
    mantissa >>= 1;
    int64_t binary = ((217706 * (int64_t)exponent) >> 16) + 63 + top - shift + 1023;
    if (mantissa >> 53) {
        mantissa >>= 1;
        binary++;
    }
    uint64_t bits = (mantissa & (((uint64_t)1 << 52) - 1)) | ((uint64_t)binary << 52);
    double made;
    memcpy(&made, &bits, 8);
    return made;
}

/* The end of a number at `p`, or NULL if there is none up to the end of the cell. */
static const char *number(const char *p, const Form *form, double *value, int *kind)
{
    int negative = *p == '-';
    if (negative) p++;
    const char *first = p;
    uint64_t digits = 0;
    int64_t many, exponent = 0;
    for (; is_digit(*p); p++) digits = digits * 10 + (uint64_t)(*p - '0');
    many = p - first;
    *kind = WHOLE;
    if (*p == form->decimal) {
        const char *point = ++p;
        for (; is_digit(*p); p++) digits = digits * 10 + (uint64_t)(*p - '0');
        exponent = point - p;
        many -= exponent;
        *kind = BROKEN;
    }
    if (!many) return NULL;
    if (*p == 'e' || *p == 'E') {
        int below = 0, power = 0;
        p++;
        if (*p == '-' || *p == '+') below = *p++ == '-';
        const char *begin = p;
        for (; is_digit(*p) && p - begin < 4; p++) power = power * 10 + (*p - '0');
        if (p == begin || p - begin == 4) return NULL;
        exponent += below ? -power : power;
        *kind = BROKEN;
    }
    if (!ends_cell(p, form)) return NULL;
    if (*kind == WHOLE && many > DIGITS_OF_WHOLE) {
        *kind = WHOLE | STRANGE;
    } else if (many > MOST_DIGITS) {
        for (const char *zero = first; *zero == '0' || *zero == form->decimal; zero++) many -= *zero == '0';
        if (many > MOST_DIGITS) *kind = STRANGE;
    }
    if (digits && (exponent > MOST_EXPONENT || exponent < -MOST_EXPONENT)) *kind = STRANGE;
    if (!(*kind & STRANGE)) {
        double made = digits ? scaled(digits, (int)exponent, form) : 0.;
        *value = negative ? -made : made;
    }
    return p;
}

static int is_missing(const char *cell, Py_ssize_t length, const Form *form)
{
    if (length > LONGEST_MISSING) return 0;
    for (const char *one = form->missing; *one; one += *one + 1)
        if (*one == length && memcmp(one + 1, cell, (size_t)length) == 0) return 1;
    return 0;
}

static int is_word(const char *cell, Py_ssize_t length, const char *word)
{
    for (Py_ssize_t k = 0; k < length; k++)
        if ((cell[k] | 0x20) != word[k]) return 0;
    return word[length] == 0;
}

/* Whether a text may be something else than a text for pandas: a number with blanks, a sign or a value that is not
 * finite, or a truth value. */
static int may_be_other(const char *cell, Py_ssize_t length)
{
    const char *last = cell + length - 1;
    if (*cell == ' ' || *cell == '\t' || *last == ' ' || *last == '\t' || *cell == '+') return 1;
    if (is_digit(*cell) || *cell == '.' || (*cell == '-' && length > 1 && (is_digit(cell[1]) || cell[1] == '.'))) {
        /* A number that could not be read above, such as one with a huge exponent. */
        for (const char *p = cell + 1; p <= last; p++)
            if (!is_digit(*p) && !strchr(".,eE+-", *p)) return 0;
        return 1;
    }
    Py_ssize_t sign = *cell == '-';
    return is_word(cell, length, "true") || is_word(cell, length, "false") || is_word(cell + sign, length - sign, "inf") ||
           is_word(cell + sign, length - sign, "infinity");
}

/* ---- cells of a text ------------------------------------------------------------------------------------------ */

/* Rows from `*from` on, which is moved behind them: from number `rows` up to `most`. `row_of[c]` is the row of `values` that takes the numbers of column c, or -1 less the row
 * of `starts` and `lengths` that takes its texts, or INT32_MIN for a column that is passed over. Gives the number of
 * rows; -1 where the text is not plain. */
static Py_ssize_t cut(const char **from, const Form *form, Py_ssize_t rows, Py_ssize_t most, int columns,
                      const int32_t *row_of, uint8_t *seen, double *values, int64_t *starts, int32_t *lengths,
                      const char *begin)
{
    const char *p = *from;
    while (rows < most && p < form->end) {
        const char *line = p;
        if (*p == '\n') {
            p++;
            continue;
        }
        if (*p == '\r' && p[1] == '\n') {
            p += 2;
            continue;
        }
        if ((*p == ' ' || *p == '\t') && *p != form->delimiter) return -1;
        for (int c = 0;; c++) {
            int32_t place = c < columns ? row_of[c] : INT32_MIN;
            const char *cell = p;
            double value = 0;
            int kind = 0;
            if (place >= 0) {
                const char *after = ends_cell(p, form) ? NULL : number(p, form, &value, &kind);
                if (after) {
                    p = after;
                    seen[c] |= (uint8_t)kind;
                    values[place * most + rows] = value;
                } else {
                    kind = 0;
                }
            }
            if (!kind) {
                while (!ends_cell(p, form)) {
                    if (*p == '"' || *p == '\r' || (unsigned char)*p > 127) return -1;
                    p++;
                }
                Py_ssize_t length = p - cell;
                if (place == INT32_MIN) {
                    /* passed over */
                } else if (!length || is_missing(cell, length, form)) {
                    seen[c] |= MISSING;
                    length = -1;
                    if (place >= 0) values[place * most + rows] = NAN;
                } else if (place >= 0) {
                    seen[c] |= may_be_other(cell, length) ? STRANGE : WORD;
                } else if (!(seen[c] & WORD)) {
                    const char *after = number(cell, form, &value, &kind);
                    seen[c] |= after ? (uint8_t)kind : may_be_other(cell, length) ? STRANGE : WORD;
                }
                if (place < 0 && place != INT32_MIN) {
                    starts[(-1 - place) * most + rows] = cell - begin;
                    lengths[(-1 - place) * most + rows] = (int32_t)length;
                }
            }
            if (p == form->end || *p != form->delimiter) {
                for (c++; c < columns; c++) {
                    if (row_of[c] == INT32_MIN) continue;
                    seen[c] |= MISSING;
                    if (row_of[c] >= 0) values[row_of[c] * most + rows] = NAN;
                    else lengths[(-1 - row_of[c]) * most + rows] = -1;
                }
                break;
            }
            p++;
        }
        if (p < form->end) p += *p == '\r' ? 2 : 1;
        if (p - line > INT32_MAX) return -1;
        rows++;
    }
    *from = p;
    return rows;
}

/* rows(data, ended, first, most, form, powers, row_of, seen, values, starts, lengths) -> (rows, place after them), or None
 * where the text is not plain. Its lines become rows from number `first` up to `most`, the last one without its end only if
 * the text has `ended`. `form`: the delimiter, the decimal mark and the texts that stand for nothing. */
static PyObject *rows(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Py_buffer views[7];
    static const int from[7] = {4, 5, 6, 7, 8, 9, 10};
    Py_ssize_t many = -1, after = 0, size;
    char *begin;
    int held = 0;
    if (count != 11) return PyErr_Format(PyExc_TypeError, "rows takes 11 arguments");
    Py_ssize_t first = PyLong_AsSsize_t(args[2]), most = PyLong_AsSsize_t(args[3]);
    int ended = PyObject_IsTrue(args[1]);
    if (PyErr_Occurred() || ended < 0 || PyBytes_AsStringAndSize(args[0], &begin, &size) < 0) return NULL;
    for (; held < 7; held++)
        if (PyObject_GetBuffer(args[from[held]], views + held, held < 3 ? PyBUF_SIMPLE : PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0)
            goto done;
    const char *said = views[0].buf, *p = begin;
    int columns = (int)(views[2].len / 4), numeric = 0, textual = 0;
    const int32_t *row_of = views[2].buf;
    for (int c = 0; c < columns; c++) {
        if (row_of[c] >= numeric) numeric = row_of[c] + 1;
        if (row_of[c] < 0 && row_of[c] != INT32_MIN && -row_of[c] > textual) textual = -row_of[c];
    }
    if (first < 0 || first > most || most < 1 || views[0].len < 3 || said[views[0].len - 1] != 0 || views[1].len < 16 * (2 * MOST_EXPONENT + 1) ||
        views[3].len < columns || views[4].len / 8 / most < numeric || views[5].len / 8 / most < textual ||
        views[6].len / 4 / most < textual) {
        PyErr_SetString(PyExc_ValueError, "the arrays have no room for so many rows and columns");
        goto done;
    }
    while (!ended && size > 0 && begin[size - 1] != '\n') size--;
    Form form = {begin + size, said[0], said[1], said + 2, views[1].buf};
    Py_BEGIN_ALLOW_THREADS
    many = cut(&p, &form, first, most, columns, row_of, views[3].buf, views[4].buf, views[5].buf, views[6].buf, begin);
    Py_END_ALLOW_THREADS
    after = p - begin;
done:
    for (int k = 0; k < held; k++) PyBuffer_Release(views + k);
    if (PyErr_Occurred()) return NULL;
    if (many < 0) Py_RETURN_NONE;
    return Py_BuildValue("nn", many, after);
}

/* joined(data, starts, lengths, offsets, texts): the cells that begin at `starts`, one after the other. A length below 0
 * is that of a cell that is missing. */
static PyObject *joined(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Py_buffer views[5];
    int held = 0;
    if (count != 5) return PyErr_Format(PyExc_TypeError, "joined takes 5 arguments");
    for (; held < 5; held++)
        if (PyObject_GetBuffer(args[held], views + held, held < 3 ? PyBUF_SIMPLE : PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0)
            goto done;
    const char *data = views[0].buf;
    const int64_t *starts = views[1].buf;
    const int32_t *lengths = views[2].buf;
    int64_t *offsets = views[3].buf, to = 0;
    char *texts = views[4].buf;
    Py_ssize_t many = views[2].len / 4, wrong = views[1].len / 8 < many || views[3].len / 8 < many + 1;
    for (Py_ssize_t k = 0; k < many && !wrong; k++) {
        int64_t length = lengths[k] < 0 ? 0 : lengths[k];
        wrong = to + length > views[4].len ||
                (length && (starts[k] < 0 || starts[k] > views[0].len || length > views[0].len - starts[k]));
        offsets[k] = to;
        if (length && !wrong) memcpy(texts + to, data + starts[k], (size_t)length);
        to += length;
    }
    if (wrong) PyErr_SetString(PyExc_ValueError, "the arrays have no room for the cells");
    else offsets[many] = to;
done:
    for (int k = 0; k < held; k++) PyBuffer_Release(views + k);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"rows", (PyCFunction)(void (*)(void))rows, METH_FASTCALL,
     "rows(data, ended, first, most, form, powers, row_of, seen, values, starts, lengths)"},
    {"joined", (PyCFunction)(void (*)(void))joined, METH_FASTCALL, "joined(data, starts, lengths, offsets, texts)"},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "compiled_rows", NULL, 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_compiled_rows(void)
{
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && PyModule_AddIntConstant(made, "VERSION", VERSION) < 0) {
        Py_DECREF(made);
        return NULL;
    }
    return made;
}
