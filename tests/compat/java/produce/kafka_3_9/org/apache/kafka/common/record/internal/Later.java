package org.apache.kafka.common.record.internal;

/** The package of Kafka 4.3 that AskBroker imports, so that it compiles with 3.9, too. */
final class Later { }
