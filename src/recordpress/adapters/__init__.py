"""recordpress under aiokafka and kafka-python: columns of their records, and their record classes.

::

    aiokafka        _aiokafka: its classes; install() puts them into the client's modules
    kafka_python    _kafka_python: the same for kafka-python, which is imported as `kafka`
                    _entry          reading, for both: a record set, an entry, and its records, read lazily
                    _open_batch     writing, for both: a batch that is being filled
                    _client         differences between the clients: exceptions and codec checks
                    _codecs         the codec functions
                    _fetched        columns of a fetched partition, which _aiokafka_columns and _kafka_columns take
                    _packed         batches of columns, which _aiokafka_sending and _kafka_sending send
                    _messages       columns of messages that a client has consumed
                    _install        install() and uninstall(): replace names in a client's modules and restore them

Importing this package loads no client: each adapter loads its own.
"""

from recordpress._lazy import publish
from recordpress.adapters._messages import columns_of

__all__ = ["columns_of"]

publish(__name__, __all__, globals())
