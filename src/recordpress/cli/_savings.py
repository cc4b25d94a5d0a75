"""Table of the sizes of copies of topics."""

from __future__ import annotations

from recordpress.cli._output import count, print_table, say, size
from recordpress.log import Estimate, Saving
from recordpress.log.copy.savings import savings_by_topic


def print_savings(estimate: Estimate) -> None:
    """Print the saving of each topic by the codec alone, by joined batches, and by settled producers."""
    print_table(
        ("topic", ">before", ">codec alone", ">joined", ">settled"),
        [
            (topic or "-", size(before), *(_change(saving, before) for saving in savings))
            for topic, before, savings in savings_by_topic(estimate)
        ],
    )
    limits = [
        *([] if estimate.batch_bytes is None else [size(estimate.batch_bytes)]),
        *([] if estimate.batch_records is None else [f"{count(estimate.batch_records)} records"]),
    ]
    say(f"joined: batches of up to {' or '.join(limits)}; settled: the same with --producers settle")
    is_whole = estimate.sampled_bytes == estimate.bytes_before
    how = "the whole log" if is_whole else f"a sample of {size(estimate.sampled_bytes)}; ± 95 % confidence"
    say(f"measured on {how}")


def _change(saving: Saving | None, before: int) -> str:
    if saving is None:
        return "-"
    if not before:
        return "-"
    share, likely = saving.change(before)
    return f"{100 * share:+.1f}" + (f" ±{100 * likely:.1f} %" if likely else " %")
