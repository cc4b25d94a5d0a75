"""The founding documents sentence by sentence: claim, module and test, or the reason why it is not reproduced."""

from __future__ import annotations

from typing import NamedTuple


class Claim(NamedTuple):
    """`module` implements it and `test` proves it; `refused` says why there is none."""

    text: str
    module: str = ""
    test: str = ""
    refused: str = ""


_FETCH = "tests/broker/test_fetch.py::"
_OLD = "tests/broker/old/test_answers.py::test_as_recorded"
_LZ4 = "tests/codecs/test_lz4.py::"
_REGISTRY = "tests/codecs/test_registry.py::"
_SPLITTING = "tests/producer/test_splitting.py::"
_SIMULATE = "tests/analysis/test_simulate.py::"
_ORIGINS = "tests/docs/test_origins.py::"
_LICENCES = "tests/test_packaging.py::test_every_linked_library_has_its_licence"

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "Cloudflare, Squeezing the firehose": (
        Claim("Records are packed back to back and compressed in batches; before magic 2 a compressed set is a message",
              "recordpress.record", "tests/record/test_builder.py::test_golden_bytes"),
        Claim("Compression in batches is better than of single messages; thousands differ enormously",
              "recordpress.analysis", "tests/analysis/test_analyze.py::test_shallow_batches_are_told"),
        Claim("To read record 3 of a batch, records 1 and 2 are fetched as well", "recordpress.log",
              "tests/log/test_plugins.py::test_a_log_is_read"),
        Claim("Only consumers need to decompress; brokers do it to check",
              "recordpress.broker", "tests/broker/test_explain.py::test_a_batch_that_is_kept"),
        Claim("Disks, page caches, lagging consumers, SSDs and network bottlenecks",
              refused="recordpress stores and sends nothing; this needs their cluster"),
        Claim("Table of a first run: messages, disk usage, average message size", "recordpress.analysis",
              "tests/cli/test_analyze_verb.py::test_the_interface_that_others_rely_on"),
        Claim("The broker's stack is in snappy: it recompresses a batch with invalid offsets", "recordpress.broker",
              "tests/broker/test_explain.py::test_offsets_inside_of_a_batch"),
        Claim("The patched broker's log: offset 0 is not 1, 2, 3, ...", "recordpress.broker",
              "tests/broker/test_explain.py::test_offsets_inside_of_a_compressed_message"),
        Claim("CPU table: time per 1 M messages, CPU ratio, message size, ratio", "recordpress.analysis",
              "tests/analysis/test_analyze.py::test_sizes_are_those_of_the_record_sets_that_are_written"),
        Claim("Producer CPU in Go: snappy 2.4 %, gzip 20 % of a core",
              refused="a profile of their Go producer; here CPU time is that of recordpress"),
        Claim("Savings of production topics: nginx errors 8x, journald 6x, metrics 5x, DNS 2.6x, requests 2.25x",
              refused="their data are not public; shapes like them are measured above"),
        Claim("One batch is extracted and given to lzbench", "recordpress.analysis",
              "tests/analysis/test_extract.py::test_the_batch_of_an_offset"),
        Claim("lzbench's list: memcpy, lz4, snappy, zstd 1 to 22, zlib 1 to 9", "recordpress.analysis",
              "tests/analysis/test_grid.py::test_all_of_zstd_and_gzip"),
        Claim("zstd 1 compresses better than gzip at its maximum, and faster (here: within 5 %, as gzip is libdeflate)",
              "recordpress.codecs", _ORIGINS + "test_findings_of_the_codecs"),
        Claim("zstd decompresses at about the same speed at all levels: only one knob", "recordpress.codecs",
              _ORIGINS + "test_findings_of_the_codecs"),
        Claim("zstd was ported to Kafka 1.0.0", "recordpress.codecs",
              "tests/codecs/test_zstd.py::test_kafka_s_frames_are_made_again"),
        Claim("One topic from none to snappy to zstd is 2.25x and 4.5x smaller", "recordpress.transcode",
              _ORIGINS + "test_findings_of_the_codecs"),
        Claim("3 bits are allocated for the codec, so four more places are vacant", "recordpress.record",
              _REGISTRY + "test_the_bytes_are_those_of_the_kip"),
    ),
    "KIP-110, zstd": (
        Claim("Comparison of the codecs on 3 messages of 1 kB and on 1 MB", "recordpress.analysis",
              "tests/analysis/test_analyze.py::test_sizes_are_those_of_the_record_sets_that_are_written"),
        Claim("The id of zstd is 4, in bit 2 of the attributes", "recordpress.codecs",
              "tests/codecs/test_table.py::test_the_table_and_its_type_list_the_codecs"),
        Claim("An error code UNSUPPORTED_COMPRESSION_TYPE (74; Kafka released 76)", "recordpress.broker", _OLD),
        Claim("zstd is allowed with magic 2 alone", "recordpress.record", "tests/codecs/test_codecs.py::test_magic"),
        Claim("Down-conversion of zstd is not supported: a dummy record, then the error", "recordpress.broker",
              _FETCH + "test_one_filler_is_all_that_is_sent_after_zstd"),
        Claim("Produce below version 7 gets UNSUPPORTED_COMPRESSION_TYPE", "recordpress.broker", _OLD),
        Claim("Fetch below version 10 gets UNSUPPORTED_COMPRESSION_TYPE", "recordpress.broker",
              _FETCH + "test_topics_of_zstd_need_fetch_10"),
        Claim("Brokers without zstd fail: unknown compression type id 4 (-1)", "recordpress.broker", _OLD),
        Claim("Rejected A: zstd for clients of v0 and v1 would mean down-conversion", "recordpress.broker",
              _FETCH + "test_the_magic_that_a_client_gets"),
        Claim("Rejected B.1 INVALID_REQUEST, B.2 CORRUPT_MESSAGE, B.3 UNSUPPORTED_FOR_MESSAGE_FORMAT",
              "recordpress.broker", "tests/broker/test_acceptance.py::test_verdict"),
        Claim("A dictionary improves small, repetitive input dramatically; room is left for it",
              "recordpress.dictionaries", "tests/codecs/test_zstd_dictionary.py::test_frames_go_both_ways"),
        Claim("Native library or Java implementation; zstd-jni", refused="Kafka's choice; recordpress links libzstd"),
        Claim("Licences of zstd are included", "wheels", _LICENCES),
    ),
    "KIP-57, LZ4 framing": (
        Claim("Kafka's first LZ4 sums the frame's magic into the header checksum", "recordpress.codecs",
              _LZ4 + "test_header_checksum"),
        Claim("0.8.2 and 0.9 clients write the incorrect checksum and read it alone", "recordpress.codecs",
              _LZ4 + "test_fix_and_break_are_what_the_magics_write"),
        Claim("0.8.2 and 0.9 brokers require it, and answer -1 otherwise", "recordpress.broker", _OLD),
        Claim("0.10 brokers return v0 with the incorrect checksum, v1 with the correct one", "recordpress.broker",
              _FETCH + "test_what_a_broker_sent"),
        Claim("0.10 brokers reject v1 with the incorrect checksum", "recordpress.broker", _OLD),
        Claim("0.10 brokers do not validate the checksum of v0", "recordpress.broker", _OLD),
        Claim("All LZ4 errors are code 2 (in 0.10.0; -1 since 0.10.2, by the matrix)", "recordpress.broker", _OLD),
        Claim("Writing and reading the incorrect checksum are options", "recordpress.fix_lz4_header",
              _LZ4 + "test_fix_and_break"),
        Claim("ContentSize and ContentChecksum are not rejected; dependent blocks are", "recordpress.codecs",
              _LZ4 + "test_refused_flags"),
        Claim("Readers of v0 must ignore the checksum or know the incorrect one", "recordpress.columns",
              "tests/columns/test_lz4_header.py::test_v0_takes_both"),
        Claim("Rejected: a new type LZ4F", refused="a decision about names; the matrix shows that none was needed"),
    ),
    "KIP-984, pluggable compression": (
        Claim("Codec id 5, then the length of a name and the name before the records", "recordpress.CodecRegistry",
              _REGISTRY + "test_the_bytes_are_those_of_the_kip"),
        Claim("Codecs without changes in Kafka, by producer, broker and consumer", "recordpress.CodecRegistry",
              _REGISTRY + "test_every_way_to_write_and_read"),
        Claim("compression.type=pluggable and pluggable.factory.plugin as settings",
              refused="no release of Kafka has them; recordpress takes the registry as an argument, and "
              "ids on the wire never choose code to import"),
        Claim("The producer compresses, the broker decompresses, validates and recompresses", "recordpress.broker",
              "tests/broker/test_own_codecs.py::test_explain_and_validate_know_it"),
        Claim("Current compression is not affected", "recordpress.codecs", _REGISTRY + "test_codecs_takes_a_registry"),
        Claim("A plug-in interface does not affect the default performance: snappy as a plug-in",
              "recordpress.codecs",
              _ORIGINS + "test_plug_ins_and_the_empty_registry_cost_little"),
        Claim("Only batches of the current format carry it", "recordpress.record",
              _REGISTRY + "test_only_magic_2_has_it"),
    ),
    "KIP-126, ratio estimation and batch split": (
        Claim("The former estimate: 0.9 of the average and 0.1 of the batch, for each codec, times 1.05",
              "recordpress.analysis", _SIMULATE + "test_the_damped_average"),
        Claim("Two topics of different ratio: the batch exceeds the maximum size", "recordpress.analysis",
              _SIMULATE + "test_two_topics_of_different_ratio_split_under_the_damped_estimate"),
        Claim("MirrorMaker's producer is shared by many topics: one with 50", "recordpress.analysis",
              _ORIGINS + "test_findings_of_the_policies"),
        Claim("A batch that is too large is decompressed, split and sent again", "recordpress.producer",
              _SPLITTING + "test_split_of_a_batch_that_is_over_full"),
        Claim("Split batches may still be too large, and are split again", "recordpress.producer",
              _SPLITTING + "test_a_batch_that_fits_is_sent_once_more_and_then_for_half_of_its_size"),
        Claim("Records and their order survive", "recordpress.producer",
              _SPLITTING + "test_no_record_is_lost_doubled_or_reordered"),
        Claim("Each topic has its own estimate", "recordpress.producer",
              "tests/producer/test_estimator.py::test_topics_and_codecs_have_estimates_of_their_own"),
        Claim("It starts at 1.0, falls by 0.005, rises by 0.05", "recordpress.producer",
              "tests/producer/test_estimator.py::test_one_update"),
        Claim("The estimate times the size times 1.05 closes a batch", "recordpress.producer",
              "tests/producer/test_accumulator.py::test_a_batch_takes_what_the_estimate_allows"),
        Claim("A split resets the estimate to 1.0", "recordpress.producer",
              _SPLITTING + "test_split_of_a_batch_that_is_over_full"),
        Claim("The metric batch-split-rate", "recordpress.producer",
              "tests/producer/test_accumulator.py::test_what_is_counted"),
        Claim("The chance of a split is much less than 10 %", "recordpress.producer",
              _SPLITTING + "test_split_frequency"),
        Claim("About 20 batches lower the ratio by 0.1; ten good batches to one bad", "recordpress.producer",
              _SPLITTING + "test_splits_are_rare_where_the_ratio_jumps"),
        Claim("Larger steps and factors trade churn, splits and efficiency",
              refused="Kafka's constants are fixed; recordpress follows them to the bit"),
        Claim("Rejected: batches by uncompressed bytes leave compressed batches small", "recordpress.analysis",
              _SIMULATE + "test_the_exact_size_is_the_fullest"),
    ),
}  # fmt: skip


def rows(document: str) -> list[tuple[str, str, str]]:
    """Return claim, module and test of each sentence of a document."""
    return [
        (claim.text, f"`{claim.module}`" if claim.module else "-",
         f"refused: {claim.refused}" if claim.refused else f"`{claim.test}`")
        for claim in CLAIMS[document]
    ]  # fmt: skip
