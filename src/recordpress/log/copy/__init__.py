"""Copies of a log with another codec or magic: each segment is checked against its source, with a manifest.

::

    log ──► copy           transcode, convert   another codec, another magic; compact: small segments merged
                           _copy_log            segment by segment, then the manifest; tasks: in other processes
                           repair               the intact batches of a damaged log (_ascending_batches)
    segment ──► copy       _segment_copy        written, verified, renamed; _quarantine: damaged; _copy_parts: in parts
    entries ──► entries    _recompress_threads  each run by _recompress_entries, with _join and _change_entry_magic
    producers ──► marks    _producers           batches that are not joined, or are omitted (_settle_marks, _settle)
    sample ──► sizes       savings              an estimate, before the copy
    logs ──► difference    compare              by digests of their records
"""
