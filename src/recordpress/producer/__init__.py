"""What Kafka's producers decide: where a record goes, how batches are filled, and what is done when one is too large.

::

    key ──► partition          _murmur2
    record ──► batch           _filling       by the size that _estimator expects of it
    batch ──► answer           _accumulator   in order, again, or in parts (_parts); _answers, _errors; _metrics counts
    records ──► batches        _packing       as large as a limit allows, compressed; _packer cuts them

Names are those of Kafka's `producer/internals` package.
"""

from recordpress._on_use import names_of

__getattr__, __dir__ = names_of(__name__)

TYPE_CHECKING = False  # as in recordpress._on_use
if TYPE_CHECKING:
    from recordpress.producer._names import *  # noqa: F403 (their __all__)
    from recordpress.producer._names import __all__ as __all__
