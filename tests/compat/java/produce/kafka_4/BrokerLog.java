import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.common.TransactionVersion;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogAppendInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/** UnifiedLog of Kafka 4.3 and 4.4. */
final class BrokerLog {
    /** The end of the log: what is appended comes after it. */
    record Position(LogSegment segment, int size) { }

    /** Whether the coordinator was asked about a transaction. */
    boolean verifies;

    private static final int NEVER = Integer.MAX_VALUE;
    private final UnifiedLog log;
    private final RequestLocal local = RequestLocal.withThreadConfinedCaching();

    BrokerLog(Path directory, Clock clock) throws IOException {
        log = UnifiedLog.create(directory.toFile(), new LogConfig(Map.of()), 0, 0, new AtOnce(), new BrokerTopicStats(),
            clock, NEVER, new ProducerStateManagerConfig(NEVER, true), NEVER, new LogDirFailureChannel(1), true,
            Optional.empty());
    }

    /** An empty log. */
    void start(Map<String, String> settings, String interBroker, long offset) {
        log.updateConfig(new LogConfig(settings));
        log.truncateFullyAndStartAt(offset, Optional.empty());
    }

    void close() {
        log.close();
    }

    VerificationGuard guard(MutableRecordBatch batch, short version) {
        verifies = true;
        boolean bumps = version > 11; // ProduceRequest.LAST_STABLE_VERSION_BEFORE_TRANSACTION_V2
        return log.maybeStartTransactionVerification(batch.producerId(), batch.baseSequence(), batch.producerEpoch(), bumps);
    }

    Position position() {
        return new Position(log.activeSegment(), log.activeSegment().size());
    }

    LogAppendInfo append(MemoryRecords records, int epoch, VerificationGuard guard) throws IOException {
        return log.appendAsLeader(records, epoch, AppendOrigin.CLIENT, local, guard, TransactionVersion.TV_UNKNOWN);
    }

    LogAppendInfo mark(MemoryRecords marker, int epoch, short transactionVersion) throws IOException {
        return log.appendAsLeader(marker, epoch, AppendOrigin.COORDINATOR, local, VerificationGuard.SENTINEL,
            transactionVersion);
    }

    byte[] since(Position before) throws IOException {
        LogSegment segment = log.activeSegment();
        int start = segment == before.segment ? before.size : 0;
        ByteBuffer bytes = ByteBuffer.allocate(segment.size() - start);
        segment.log().readInto(bytes, start);
        return bytes.array();
    }
}
