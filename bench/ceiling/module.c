/* `_ceiling`: the C ceiling and the floor for Python objects, callable next to the library under test. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include <time.h>

#include "batch.h"

static const char *CODEC_NAMES[] = {"none", "gzip", "snappy", "lz4", "zstd"};

static int codec_of(const char *name) {
    for (int i = NONE; i <= ZSTD; i++)
        if (!strcmp(name, CODEC_NAMES[i])) return i;
    PyErr_Format(PyExc_ValueError, "no codec is named %s", name);
    return -1;
}

static PyObject *failed(const char *what) {
    PyErr_Format(PyExc_ValueError, "the ceiling cannot %s this", what);
    return NULL;
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- Record: the smallest object that CPython can give, C integers inside and made to Python's when read ---- */

typedef struct {
    PyObject_HEAD
    long long offset, timestamp;
    PyObject *key, *value;
} RecordObject;

static void Record_dealloc(RecordObject *self) {
    Py_XDECREF(self->key);
    Py_XDECREF(self->value);
    PyObject_Free(self);
}

static PyMemberDef Record_members[] = {
    {"offset", T_LONGLONG, offsetof(RecordObject, offset), READONLY, NULL},
    {"timestamp", T_LONGLONG, offsetof(RecordObject, timestamp), READONLY, NULL},
    {"key", T_OBJECT, offsetof(RecordObject, key), READONLY, NULL},
    {"value", T_OBJECT, offsetof(RecordObject, value), READONLY, NULL},
    {NULL},
};

static PyTypeObject RecordType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_ceiling.Record",
    .tp_basicsize = sizeof(RecordObject),
    .tp_dealloc = (destructor)Record_dealloc,
    .tp_members = Record_members,
    .tp_flags = Py_TPFLAGS_DEFAULT,
};

static PyObject *bytes_or_none(const uint8_t *data, int64_t size) {
    if (size < 0) Py_RETURN_NONE;
    return PyBytes_FromStringAndSize((const char *)data, size);
}

/* ---- RecordIterator: one record alive at a time, so that the next one has its memory ---- */

typedef struct {
    PyObject_HEAD
    PyObject *owner; /* the Ceiling, whose scratch the record bytes may lie in */
    Py_buffer data;
    record_bytes left;
} RecordIteratorObject;

static void RecordIterator_dealloc(RecordIteratorObject *self) {
    PyBuffer_Release(&self->data);
    Py_XDECREF(self->owner);
    PyObject_Free(self);
}

static PyObject *RecordIterator_next(RecordIteratorObject *self) {
    record one;
    if (self->left.count <= 0) return NULL;
    self->left.count--;
    if (record_next(&self->left, &one)) return failed("read");
    RecordObject *made = PyObject_New(RecordObject, &RecordType);
    if (!made) return NULL;
    made->offset = one.offset;
    made->timestamp = one.timestamp;
    made->key = bytes_or_none(one.key, one.key_size);
    made->value = bytes_or_none(one.value, one.value_size);
    if (!made->key || !made->value) Py_CLEAR(made);
    return (PyObject *)made;
}

static PyTypeObject RecordIteratorType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_ceiling.RecordIterator",
    .tp_basicsize = sizeof(RecordIteratorObject),
    .tp_dealloc = (destructor)RecordIterator_dealloc,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = (iternextfunc)RecordIterator_next,
    .tp_flags = Py_TPFLAGS_DEFAULT,
};

/* ---- Ceiling: contexts, scratch and columns that every call uses again ---- */

typedef struct {
    PyObject_HEAD
    workspace w;
    uint8_t *out; /* what encode and repeat_codec write */
    size_t out_size;
} CeilingObject;

static void Ceiling_dealloc(CeilingObject *self) {
    columns_free(&self->w.columns);
    codecs_close(&self->w.codecs);
    free(self->w.scratch);
    free(self->out);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *Ceiling_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"records", "size", NULL};
    Py_ssize_t records, size;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "nn", names, &records, &size)) return NULL;
    CeilingObject *self = (CeilingObject *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->w.scratch_size = self->out_size = 2 * (size_t)size + 40 * (size_t)records + (64 << 10);
    self->w.scratch = malloc(self->w.scratch_size + MARGIN);
    self->out = malloc(self->out_size + MARGIN);
    if (!columns_allocate(&self->w.columns, records, size) || !codecs_open(&self->w.codecs) || !self->w.scratch || !self->out) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    memset(self->w.scratch, 0, self->w.scratch_size); /* the pages are there before the first measurement */
    memset(self->out, 0, self->out_size);
    return (PyObject *)self;
}

PyDoc_STRVAR(decode_doc, "decode(data, views=False)\n--\n\nDecode all batches into the columns; gives the number of records.");
static PyObject *Ceiling_decode(CeilingObject *self, PyObject *args) {
    Py_buffer data;
    int views = 0;
    if (!PyArg_ParseTuple(args, "y*|p", &data, &views)) return NULL;
    int64_t records = decode(&self->w, data.buf, (size_t)data.len, views);
    PyBuffer_Release(&data);
    return records < 0 ? failed("decode") : PyLong_FromLongLong(records);
}

PyDoc_STRVAR(encode_doc, "encode(codec)\n--\n\nEncode the columns as one batch into a buffer used again; gives the size.");
static PyObject *Ceiling_encode(CeilingObject *self, PyObject *args) {
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    int codec = codec_of(name);
    if (codec < 0) return NULL;
    int64_t size = encode(&self->w, codec, self->out, self->out_size);
    return size < 0 ? failed("encode") : PyLong_FromLongLong(size);
}

PyDoc_STRVAR(encoded_doc, "encoded(size)\n--\n\nA copy of what encode wrote.");
static PyObject *Ceiling_encoded(CeilingObject *self, PyObject *args) {
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "n", &size)) return NULL;
    if (size < 0 || (size_t)size > self->out_size) return failed("copy");
    return PyBytes_FromStringAndSize((const char *)self->out, size);
}

PyDoc_STRVAR(records_doc, "records(batch)\n--\n\nCheck and decompress one batch; iterate over its records as small objects.");
static PyObject *Ceiling_records(CeilingObject *self, PyObject *args) {
    RecordIteratorObject *it = PyObject_New(RecordIteratorObject, &RecordIteratorType);
    if (!it) return NULL;
    memset(&it->data, 0, sizeof it->data);
    it->owner = Py_NewRef((PyObject *)self);
    if (!PyArg_ParseTuple(args, "y*", &it->data)) {
        Py_DECREF(it);
        return NULL;
    }
    if (open_batch(&self->w, it->data.buf, (size_t)it->data.len, &it->left)) {
        Py_DECREF(it);
        return failed("decode");
    }
    return (PyObject *)it;
}

PyDoc_STRVAR(column_doc, "column(name)\n--\n\nA copy of a column's bytes: offset, timestamp, key, value, key_offsets, value_offsets.");
static PyObject *Ceiling_column(CeilingObject *self, PyObject *args) {
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    const columns *c = &self->w.columns;
    int64_t n = c->count;
    struct { const char *name; const void *data; int64_t size; } all[] = {
        {"offset", c->offset, 8 * n}, {"timestamp", c->timestamp, 8 * n},
        {"key", c->key_bytes, c->key_offsets[n]}, {"value", c->value_bytes, c->value_offsets[n]},
        {"key_offsets", c->key_offsets, 4 * (n + 1)}, {"value_offsets", c->value_offsets, 4 * (n + 1)},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].name, name)) return PyBytes_FromStringAndSize(all[i].data, all[i].size);
    return failed("name");
}

PyDoc_STRVAR(repeat_codec_doc,
             "repeat_codec(codec, operation, data, calls)\n--\n\n"
             "Bare C calls, 'compress' or 'decompress', with no Python between them; gives the size of the output.");
static PyObject *Ceiling_repeat_codec(CeilingObject *self, PyObject *args) {
    const char *name, *operation;
    Py_buffer data;
    Py_ssize_t calls;
    if (!PyArg_ParseTuple(args, "ssy*n", &name, &operation, &data, &calls)) return NULL;
    int codec = codec_of(name), compress = !strcmp(operation, "compress");
    int64_t size = 0;
    for (Py_ssize_t i = 0; codec >= 0 && i < calls && size >= 0; i++)
        size = (compress ? codec_compress : codec_decompress)(&self->w.codecs, codec, data.buf, (size_t)data.len, self->out, self->out_size);
    PyBuffer_Release(&data);
    if (codec < 0) return NULL;
    return size < 0 ? failed(operation) : PyLong_FromLongLong(size);
}

static PyMethodDef Ceiling_methods[] = {
    {"decode", (PyCFunction)Ceiling_decode, METH_VARARGS, decode_doc},
    {"encode", (PyCFunction)Ceiling_encode, METH_VARARGS, encode_doc},
    {"encoded", (PyCFunction)Ceiling_encoded, METH_VARARGS, encoded_doc},
    {"records", (PyCFunction)Ceiling_records, METH_VARARGS, records_doc},
    {"column", (PyCFunction)Ceiling_column, METH_VARARGS, column_doc},
    {"repeat_codec", (PyCFunction)Ceiling_repeat_codec, METH_VARARGS, repeat_codec_doc},
    {NULL},
};

static PyTypeObject CeilingType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_ceiling.Ceiling",
    .tp_basicsize = sizeof(CeilingObject),
    .tp_new = Ceiling_new,
    .tp_dealloc = (destructor)Ceiling_dealloc,
    .tp_methods = Ceiling_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT,
};

PyDoc_STRVAR(time_memcpy_doc, "time_memcpy(size, calls)\n--\n\nSeconds of `calls` copies of `size` bytes: the roof over every rate here.");
static PyObject *time_memcpy(PyObject *module, PyObject *args) {
    Py_ssize_t size, calls;
    (void)module;
    if (!PyArg_ParseTuple(args, "nn", &size, &calls)) return NULL;
    uint8_t *memory = calloc(2, (size_t)size);
    if (!memory) return PyErr_NoMemory();
    memset(memory, 1, 2 * (size_t)size);
    double t = seconds_now();
    for (Py_ssize_t i = 0; i < calls; i++) {
        memcpy(memory + size, memory, (size_t)size);
        __asm__ volatile("" ::"r"(memory) : "memory");
    }
    t = seconds_now() - t;
    free(memory);
    return PyFloat_FromDouble(t);
}

PyDoc_STRVAR(libraries_doc, "libraries()\n--\n\nNames and versions of the codec libraries, for the report.");
static PyObject *libraries(PyObject *module, PyObject *args) {
    (void)module, (void)args;
    return PyUnicode_FromFormat("zstd %s, lz4 %s, libdeflate %s", ZSTD_versionString(), LZ4_versionString(),
                                LIBDEFLATE_VERSION_STRING);
}

static PyMethodDef functions[] = {{"time_memcpy", time_memcpy, METH_VARARGS, time_memcpy_doc},
                                  {"libraries", libraries, METH_NOARGS, libraries_doc},
                                  {NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_ceiling", .m_size = -1, .m_methods = functions,
    .m_doc = "The C ceiling on the work of recordpress, and the floor for records as Python objects.",
};

PyMODINIT_FUNC PyInit__ceiling(void) {
    if (PyType_Ready(&RecordType) || PyType_Ready(&RecordIteratorType) || PyType_Ready(&CeilingType)) return NULL;
    PyObject *m = PyModule_Create(&module);
    if (m && PyModule_AddObjectRef(m, "Ceiling", (PyObject *)&CeilingType)) Py_CLEAR(m);
    return m;
}
