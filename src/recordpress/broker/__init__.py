"""Rules of a broker, without a broker: its answer to a client's record set, and the reasons.

::

    validate       ─┐                            one record set, one verdict; PartitionLog keeps its state between sets
    PartitionLog   ─┴► _partition ─► Verdict     a broker's steps, in order:

                       _request                  checks of a Produce request, before the log is examined
                       _analyze                  checks of UnifiedLog, before any record is read
                       _validator                checks and changes of LogValidator ──► _walk, which reads the records,
                                                                                        and writes them again
                                                                                    ──► _check, the rules
                                                 and the stored form, whose bytes are created on request
                       _message_sets             the same for brokers before 0.11 ──► _message_validator, _old_streams
                       _producers                epochs, sequences, transactions: ProducerStateManager

    fetch ─► Fetched   _fetch                    the answer to a fetch (_fetch_rules: by release)
                       _lazy_conversion          records for old clients; their size is announced first (KIP-283)

                       _settings                 settings that hold for every record set, cached between calls
                       _config, _config_names    settings of topic and broker, keyed as in Kafka
                       _versions                 changes from release to release
                       _error_codes              Kafka's error codes
    Reason, Finding    _reasons                  why a broker does not keep a batch as it was sent: one table for
                                                 verdicts, `recordpress explain` and the docs

    explain ─► Explanation
                       _explain ───┬─► _explain_set     a record set: _judge gets the verdict, _client finds the encoder
                                   └─► _explain_log     a log, batch by batch
                       _explanation              the result
                       _depth                    depth of a log's batches, and settings for deeper ones
                       _produce_request          captured requests, and the record sets in them
                       _properties               server.properties

Names follow Kafka's classes and settings.
"""

from recordpress._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
