"""recordpress under aiokafka and kafka-python: columns of their records, and their record classes.

::

    aiokafka        _aiokafka: its classes; install() puts them under the client
    kafka_python    _kafka_python: the same for kafka-python, which is imported as `kafka`
                    _entry          what both read: a record set, an entry, its records, lazily
                    _open_batch     a batch that is being filled, and what both build of it
                    _client         what differs: the client's exceptions, and its say on codecs
                    _codecs         the codec functions
                    _fetched        columns of a fetched partition, which _aiokafka_columns and _kafka_columns take
                    _packed         batches of columns, which _aiokafka_sending and _kafka_sending send
                    _messages       columns of messages that a client has made
                    _install        puts names into a client's modules and takes them out; the calls that do so

Importing this package loads no client: each adapter loads its own.
"""

from recordpress._lazy import publish
from recordpress.adapters._messages import columns_of

__all__ = ["columns_of"]

publish(__name__, __all__, globals())
