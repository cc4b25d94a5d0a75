"""The rules of a broker, without a broker: its answer to a client's record set, and the reasons.

::

    validate       ─┐                            one record set, one verdict; PartitionLog remembers what came before
    PartitionLog   ─┴► _partition ─► Verdict     the way through a broker, in its order:

                       _request                  what a Produce request shows before the log is examined
                       _analyze                  what UnifiedLog looks at before any record is read
                       _validator                what LogValidator makes of the records ──► _walk, record by record, and
                                                                                            written again
                                                                                        ──► _check, the rules
                                                 what the log holds of it: bytes are made when they are requested
                       _message_sets             the same of brokers before 0.11 ──► _message_validator, _old_streams
                       _producers                epochs, sequences, transactions: ProducerStateManager

    fetch ─► Fetched   _fetch                    what a fetch gets of a log (_fetch_rules: by release)
                       _lazy_conversion          what is sent to old clients, and promised before (KIP-283)

                       _settings                 what is the same for every record set, remembered from call to call
                       _config, _config_names    settings of topic and broker, by Kafka's property names
                       _versions                 what changed from release to release
                       _errors                   Kafka's codes and their names
    Reason, Finding    _reasons                  why a broker does not keep a batch as it was sent: the one table for
                                                 verdicts, `recordpress explain` and the docs

    explain ─► Explanation
                       _explain ───┬─► _explain_set     a record set: _judge asks a broker, _client looks who wrote it
                                   └─► _explain_log     a log, a batch at a time
                       _explanation              what it gives
                       _depth                    how deep a log's batches are, and how they become deeper
                       _produce_request          captured requests, and the record sets in them
                       _properties               server.properties

Names follow Kafka's classes and settings.
"""

from recordpress._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
