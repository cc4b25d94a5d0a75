import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import kafka.log.UnifiedLog;
import kafka.server.BrokerTopicStats;
import kafka.server.RequestLocal;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogAppendInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogOffsetsListener;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import scala.Option;

/** UnifiedLog of Kafka 3.9. */
final class BrokerLog {
    /** The end of the log: what is appended comes after it. */
    record Position(LogSegment segment, int size) { }

    /** Whether the coordinator was asked about a transaction. */
    boolean verifies;

    private static final int NEVER = Integer.MAX_VALUE;
    private final UnifiedLog log;
    private final RequestLocal local = RequestLocal.withThreadConfinedCaching();
    private MetadataVersion interBroker = MetadataVersion.latestProduction();

    BrokerLog(Path directory, Clock clock) throws IOException {
        log = UnifiedLog.apply(directory.toFile(), new LogConfig(Map.of()), 0, 0, new AtOnce(), new BrokerTopicStats(false),
            clock, NEVER, new ProducerStateManagerConfig(NEVER, true), NEVER, new LogDirFailureChannel(1), true,
            Option.empty(), false, new ConcurrentHashMap<>(), false, LogOffsetsListener.NO_OP_OFFSETS_LISTENER);
    }

    /** An empty log. */
    void start(Map<String, String> settings, String interBrokerVersion, long offset) {
        interBroker = interBrokerVersion == null ? MetadataVersion.latestProduction()
            : MetadataVersion.fromVersionString(interBrokerVersion);
        log.updateConfig(new LogConfig(settings));
        log.truncateFullyAndStartAt(offset, Option.empty());
    }

    void close() {
        log.close();
    }

    VerificationGuard guard(MutableRecordBatch batch, short version) {
        verifies = true;
        return log.maybeStartTransactionVerification(batch.producerId(), batch.baseSequence(), batch.producerEpoch());
    }

    Position position() {
        return new Position(log.activeSegment(), log.activeSegment().size());
    }

    LogAppendInfo append(MemoryRecords records, int epoch, VerificationGuard guard) throws IOException {
        return log.appendAsLeader(records, epoch, AppendOrigin.CLIENT, interBroker, local, guard);
    }

    LogAppendInfo mark(MemoryRecords marker, int epoch, short transactionVersion) throws IOException {
        return log.appendAsLeader(marker, epoch, AppendOrigin.COORDINATOR, interBroker, local,
            VerificationGuard.SENTINEL);
    }

    byte[] since(Position before) throws IOException {
        LogSegment segment = log.activeSegment();
        int start = segment == before.segment() ? before.size() : 0;
        ByteBuffer bytes = ByteBuffer.allocate(segment.size() - start);
        segment.log().readInto(bytes, start);
        return bytes.array();
    }
}
