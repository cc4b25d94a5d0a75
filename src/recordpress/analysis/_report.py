"""Analysis as one HTML file that opens offline, without scripts, fonts or external pictures, in light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from recordpress.analysis._analysis import Analysis, Cell
from recordpress.analysis.html import CHARACTER, LogAxis, Plot, figures, page, percent, plot, settings, size, table
from recordpress.codecs.choice import level_as_json
from recordpress.log.copy.savings import Saving, savings_by_topic

_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 390, 52, 16, 26, 46
_SPACE = "\N{NO-BREAK SPACE}"
_KINDS = ("one", "two")  # of the stored depth, and of deeper batches


def html_of(found: Analysis) -> str:
    """Return the report.

    Parameters
    ----------
    found : Analysis

    Returns
    -------
    str

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.analysis import html_of
    >>> html_of(recordpress.analyze("demo/logs/sessions-0", "none/zstd,3")).startswith("<!DOCTYPE html>")
    True
    """
    advice = found.recommendation
    parts = [
        f'<p class="kicker">recordpress analyze · {escape(_names(found))} · {escape(_moment(found))}</p>',
        f"<h1>{escape(_headline(found))}</h1>",
        f"<p>{escape(_summary(found))}</p>",
        figures(_figures(found)),
        "<h2>Set this in the producer</h2>",
        f"<pre>{escape(chr(10).join(advice['lines']))}</pre>",
        *(f"<p>Note: {escape(warning)}.</p>" for warning in advice["warnings"]),
        "<h2>Shrink what is stored</h2>",
        *_savings(found),
        "<h2>The bill</h2>",
        *_bill(found),
        "<h2>Ratio and speed of each codec</h2>",
        _scatter(found),
        "<h2>What deeper batches give</h2>",
        _by_depth(found),
        *(f"<p>{escape(words)}</p>" for words in [_dictionary(found)] if words),
        "<h2>All figures</h2>",
        _cells(found),
        "<h2>What was measured</h2>",
        settings(_measurement(found)),
    ]
    return page(f"recordpress analyze: {_names(found)}", parts)


# ---- words


def _names(found: Analysis) -> str:
    several = found.measurement["topics"] or found.measurement["paths"]
    return several[0] if len(several) == 1 else f"{several[0]} and {len(several) - 1} more"


def _moment(found: Analysis) -> str:
    return f"{found.measurement['started'][:16].replace('T', ' ')} UTC"


def _label(cell: Cell) -> str:
    return cell.compression_type if cell.level is None else f"{cell.compression_type} {cell.level}"


def _chosen(found: Analysis) -> Cell:
    advice = found.recommendation
    return next(
        cell
        for cell in found.cells
        if (cell.compression_type, level_as_json(cell.level), cell.depth)
        == (advice["compression_type"], advice["level"], advice["depth"])
    )


def _headline(found: Analysis) -> str:
    share, cell = found.recommendation["saves"]["share"], _chosen(found)
    what = f"with {_label(cell)}"
    if cell.depth > min(one.depth for one in found.cells):
        what += f" and batches {cell.depth:g} times as deep"
    return (
        f"{percent(share)} less space {what}" if share > 0 else f"Nothing to save: {percent(-share)} more space {what}"
    )


def _summary(found: Analysis) -> str:
    now, sample = found.baseline, found.sample
    codecs = ", ".join(sorted(now["codecs"])) or "lines of text"
    covered = "all records" if sample["coverage"] > 0.9995 else f"a sample of {percent(sample['coverage'])}"
    return (
        f"Today: {size(now['bytes'])} ({codecs}), {now['mean_batch_records']:.1f} records per batch. Each codec wrote "
        f"{covered}, batch by batch, and every batch was read back and compared."
    )


def _figures(found: Analysis) -> list[tuple[str, str, str]]:
    cell, saves, now = _chosen(found), found.recommendation["saves"], found.baseline
    cards = [
        ("saved", percent(saves["share"]), f"{size(saves['bytes'])} of {size(now['bytes'])}"),
        ("per record", f"{cell.bytes_per_record:.1f} B", f"{now['bytes_per_record']:.1f} B today"),
        (
            "to write, one thread",
            f"{cell.speed.compress_mb_s:,.0f}{_SPACE}MB/s",
            f"± {percent(cell.speed.compress_spread, 0)} in {cell.speed.rounds} calls",
        ),
        (
            "to read, one thread",
            f"{cell.speed.decompress_mb_s:,.0f}{_SPACE}MB/s",
            f"± {percent(cell.speed.decompress_spread, 0)} in {cell.speed.rounds} calls",
        ),
    ]
    if "bytes_a_day" in saves:
        cards.append(("saved a day", size(saves["bytes_a_day"]), f"at {_rate(found)}"))
    return cards


def _rate(found: Analysis) -> str:
    return f"{(found.rate_bytes or 0) / 1e6:,.1f} MB/s of uncompressed records"


def _dictionary(found: Analysis) -> str:
    advice = found.recommendation["dictionary"]
    return f"{advice['summary'][:1].upper()}{advice['summary'][1:]}." if advice else ""


# ---- tables


def _savings(found: Analysis) -> list[str]:
    """Return the sizes of copies with the recommended codec and level."""
    if found.savings is None:
        return ["<p>A file of lines is not a log: nothing is stored yet.</p>"]
    rows = [
        (topic or "-", size(before), *(_saving(saving, before) for saving in ways))
        for topic, before, ways in savings_by_topic(found.savings)
    ]
    limit = f" of up to {size(found.savings.batch_bytes)}" if found.savings.batch_bytes else ""
    whole = found.savings.sampled_bytes == found.savings.bytes_before
    proof = (
        "Everything was recompressed, so the figures are exact."
        if whole
        else f"Measured on {size(found.savings.sampled_bytes)}; ± is the 95 % confidence interval."
    )
    return [
        "<p>The settings above apply to new records. <code>recordpress transcode</code> copies the stored records with "
        "this codec and level, and keeps all offsets.</p>",
        table(("topic", "stored", "codec alone", "joined", "settled"), rows),
        f'<p class="note">joined: small batches become batches{limit}, each of one producer. settled: producers that '
        f"can no longer send lose their ids, so that their batches are joined too. {proof}</p>",
    ]


def _saving(saving: Saving | None, before: int) -> str:
    if saving is None or not before:
        return "-"
    share, likely = saving.change(before)
    return f"{size(saving.bytes_after)}, {percent(share, sign='+')}" + (f" ± {percent(likely)}" if likely else "")


def _bill(found: Analysis) -> list[str]:
    """Return the savings in bytes and price, and the cost in CPU time, for the given rate and prices."""
    saves, price = found.recommendation["saves"], found.recommendation["saves"].get("price")
    rows = [("stored now", f"{size(saves['bytes'])} less", _price(price))]
    if "bytes_a_day" in saves:
        rows += [
            ("written each day", f"{size(saves['bytes_a_day'])} less", _price(saves.get("price_a_day"))),
            (
                "sent to followers each day",
                f"{size(saves['network_bytes_a_day'])} less",
                _price(saves.get("network_price_a_day")),
            ),
            (
                "sent to consumers each day",
                f"{size(saves['consumer_bytes_a_day'])} less",
                _price(saves.get("consumer_price_a_day")),
            ),
            ("compression each day", f"{saves['compress_cpu_seconds_a_day']:,.0f} s of CPU time", "-"),
            ("decompression per reader, each day", f"{saves['decompress_cpu_seconds_a_day']:,.0f} s of CPU time", "-"),
        ]
    missing = [
        *([] if found.rate_bytes else ["--rate for CPU time and bytes per day"]),
        *([] if price is not None else ["--price-gb for the price of storage"]),
        *([] if not found.rate_bytes or "network_price_a_day" in saves else ["--replication and --price-network-gb"]),
        *([] if not found.rate_bytes or "consumer_price_a_day" in saves else ["--consumers and --price-consumer-gb"]),
    ]
    note = f"At {_rate(found)}." if found.rate_bytes else ""
    more = f"Give {', '.join(missing)}." if missing else ""
    return [
        table(("", "bytes and time", "price"), rows),
        f'<p class="note">{escape(" ".join(filter(None, (note, more))))}</p>',
    ]


def _price(saved: float | None) -> str:
    if saved is None:
        return "-"
    return "under 0.01 less" if 0 < saved < 0.01 else f"{saved:,.2f} less"


def _cells(found: Analysis) -> str:
    names = ("codec", "depth", "records per batch", "ratio", "bytes per record", "write MB/s", "read MB/s")
    rows = [
        (
            _label(cell) + (" *" if cell.is_best else ""),
            f"{cell.depth:g}x",
            "varies" if cell.batch_records is None else f"{cell.batch_records:,}",
            f"{cell.ratio:.2f}",
            f"{cell.bytes_per_record:.1f}",
            f"{cell.speed.compress_mb_s:,.0f} ±{_SPACE}{percent(cell.speed.compress_spread, 0)}",
            f"{cell.speed.decompress_mb_s:,.0f} ±{_SPACE}{percent(cell.speed.decompress_spread, 0)}",
        )
        for cell in found.cells
    ]
    return (
        f"{table(names, rows, found.cells.index(_chosen(found)))}\n"
        '<p class="note">* no other cell of the same depth is both smaller and faster to write. Bold: recommended. '
        "± is the spread of repeated calls: their interquartile range as a share of the median.</p>"
    )


def _measurement(found: Analysis) -> dict[str, str]:
    sample, speed, machine = found.sample, found.sample["speed"], found.measurement["machine"]
    return {
        "what": f"{sample['records']:,} records in {sample['batches']:,} batches, "
        f"{size(sample['bytes'])} uncompressed; "
        f"{percent(sample['coverage'])} of {size(found.baseline['bytes'])}; "
        f"partitions: {found.baseline['partitions']}; seed {sample['seed']}",
        "where": ", ".join(found.measurement["paths"]),
        "when": f"{_moment(found)}, for {found.measurement['seconds']:.0f} s",
        "machine": f"{machine['processor']}; cores: {machine['cores']}; memcpy {speed['memcpy_mb_s']:,.0f} MB/s",
        "system": f"{machine['system']}, {machine['python']}",
        "software": ", ".join(f"{name} {version}" for name, version in found.versions.items()),
        "speed": f"the {speed['timing']} of repeated calls on at most {size(speed['most_bytes'])}, one thread, in MB "
        "(10^6 bytes) of uncompressed records per second",
        "size": "whole record sets with their headers; the ratio is uncompressed to compressed bytes",
    }


# ---- plots


def _axes(canvas: Plot, points: Sequence[tuple[float, float]], below: str, left: str) -> tuple[LogAxis, LogAxis]:
    """Draw logarithmic axes that include all points."""
    xs, ys = ([point[number] for point in points] for number in (0, 1))
    _, _, right, bottom = _area(canvas)
    across = LogAxis(min(xs) / 1.15, max(xs) * 1.15, _LEFT, right)
    up = LogAxis(min(ys) / 1.06, max(ys) * 1.06, bottom, _TOP)
    for value in across.ticks(5 if canvas.is_narrow else 9):
        canvas.line(across.at(value), _TOP, across.at(value), bottom)
        words = f"{value:,g}"
        canvas.write(
            min(across.at(value), canvas.width - CHARACTER * len(words) / 2), bottom + 16, words, "faint", "middle"
        )
    for value in up.ticks(8):
        canvas.line(_LEFT, up.at(value), right, up.at(value))
        canvas.write(_LEFT - 8, up.at(value) + 4, f"{value:,g}", "faint", "end")
    canvas.write((_LEFT + right) / 2, canvas.height - 8, below, "", "middle")
    canvas.write(0, _TOP - 12, left)
    return across, up


def _area(canvas: Plot) -> tuple[float, float, float, float]:
    return _LEFT, _TOP, canvas.width - _RIGHT, canvas.height - _BOTTOM


def _scatter(found: Analysis) -> str:
    """Draw each cell with the spread of its speed, and the Pareto front of each depth."""
    chosen = _chosen(found)
    depths = sorted({cell.depth for cell in found.cells})

    def kind_of(cell: Cell) -> str:
        return _KINDS[cell.depth > depths[0]]

    def draw(canvas: Plot) -> None:
        names = [("as stored", "one"), *([("deeper", "two")] if len(depths) > 1 else [])]
        canvas.legend(names, 110, 12)
        points = [(cell.speed.compress_mb_s, cell.ratio) for cell in found.cells]
        across, up = _axes(canvas, points, "MB/s to compress, one thread (log scale)", "ratio (log scale)")
        places = {id(cell): (across.at(cell.speed.compress_mb_s), up.at(cell.ratio)) for cell in found.cells}
        for depth in depths:
            front = sorted((cell for cell in found.cells if cell.depth == depth and cell.is_best), key=_speed)
            canvas.path([places[id(cell)] for cell in front], kind_of(front[0]), is_free=canvas.is_narrow)
        for cell in found.cells:
            x, y = places[id(cell)]
            low, high = (_speed(cell) * (1 + side * cell.speed.compress_spread / 2) for side in (-1, 1))
            canvas.line(across.at(max(low, across.least)), y, across.at(min(high, across.most)), y, kind_of(cell))
            canvas.point(x, y, 4 if cell.is_best else 2.5, kind_of(cell))
            canvas.occupy(x - 5, y - 5, x + 5, y + 5)
            if not canvas.is_narrow:  # otherwise labels would have no room
                canvas.occupy(across.at(max(low, across.least)), y - 2, across.at(min(high, across.most)), y + 2)
        canvas.point(*places[id(chosen)], 8, "ring")
        by_worth = sorted(found.cells, key=lambda cell: (cell is not chosen, not cell.is_best))
        for cell in by_worth:
            if cell.is_best or not canvas.is_narrow:
                kind = kind_of(cell) + (" bold" if cell is chosen else "")
                words = f"{_label(cell)}, {cell.depth:g}x" if len(depths) > 2 else _label(cell)
                canvas.label(*places[id(cell)], words, kind, _area(canvas))

    return plot(
        _HEIGHT,
        "ratio against compression speed of all codecs, levels and depths",
        "Higher is smaller; further right is faster. The ring is the recommendation. Lines join the codecs that no "
        "other codec at that depth beats in both size and speed; whiskers show the spread of repeated calls.",
        draw,
    )


def _speed(cell: Cell) -> float:
    return cell.speed.compress_mb_s


def _by_depth(found: Analysis) -> str:
    """Draw the ratio of the recommended codec in batches of other depths."""
    now = float(found.baseline["mean_batch_records"])
    points = [(max(now * one["depth"], 1.0), float(one["ratio"])) for one in found.recommendation["by_depth"]]

    def draw(canvas: Plot) -> None:
        across, up = _axes(canvas, points, "records per batch (log scale)", "ratio (log scale)")
        places = [(across.at(x), up.at(y)) for x, y in points]
        canvas.path(places, "one", is_free=False)
        for (x, y), (records, ratio) in zip(places, points, strict=True):
            canvas.point(x, y, 4, "one")
            canvas.label(x, y, f"{records:,.0f}: {ratio:.2f}", "one", _area(canvas))

    return plot(
        _HEIGHT - 120,
        "ratio by records per batch",
        f"{_label(_chosen(found))}; the first point is the stored depth of {now:,.1f} records per batch. A codec finds "
        "repetitions only within one batch.",
        draw,
    )
