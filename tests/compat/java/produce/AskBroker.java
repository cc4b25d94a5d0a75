import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.*;
import org.apache.kafka.common.record.internal.*; // where Kafka 4.3 has them
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.requests.ProduceResponse.RecordError;
import org.apache.kafka.common.requests.RequestUtils;
import org.apache.kafka.storage.internals.log.LogAppendInfo;
import org.apache.kafka.storage.internals.log.RecordValidationException;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/**
 * Kafka's own classes answer Produce requests to one partition: ProduceRequest.validateRecords and UnifiedLog, with the
 * LogValidator and the ProducerStateManager that it brings along. usage: AskBroker DIRECTORY
 * Cases come from standard input, answers go to standard output, both as DataOutputStream writes them. A case is a log
 * that starts empty, with its settings and its first offset, and the requests sent to it (tests/compat/kafka_classes.py).
 * A marker is a request of version -1, with the transaction version in place of the transactional id.
 */
public final class AskBroker {
    private static final int MOST_TEXT = 20_000; // writeUTF takes 65535 bytes
    private static final String INTER_BROKER = "inter.broker.protocol.version";

    /** What a broker says of one request, and what its log holds for it. */
    private record Answer(Throwable error, LogAppendInfo info, byte[] stored) { }

    private final Clock clock = new Clock();
    private final Path directory;
    private BrokerLog log;
    private int logs;

    private AskBroker(Path directory) throws IOException {
        this.directory = directory;
        log = open();
    }

    private BrokerLog open() throws IOException {
        return new BrokerLog(directory.resolve(logs++ + "/topic-0"), clock);
    }

    public static void main(String[] args) throws IOException {
        AskBroker broker = new AskBroker(Path.of(args[0]));
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 20));
        try (DataOutputStream out = new DataOutputStream(
                new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 20))) {
            while (more(in)) {
                broker.answer(in, out);
                if (in.available() == 0) {
                    out.flush();
                }
            }
        }
        System.exit(0); // Kafka's threads do not matter
    }

    private static boolean more(DataInputStream in) throws IOException {
        in.mark(1);
        boolean more = in.read() >= 0;
        in.reset();
        return more;
    }

    private void answer(DataInputStream in, DataOutputStream out) throws IOException {
        Map<String, String> settings = new HashMap<>();
        for (int left = in.readInt(); left > 0; left--) {
            settings.put(in.readUTF(), in.readUTF());
        }
        if (log.verifies) { // an emptied log remembers which transactions it asked the coordinator about
            log.close();
            log = open();
        }
        log.start(settings, settings.remove(INTER_BROKER), in.readLong());
        int epoch = in.readInt();
        for (int left = in.readInt(); left > 0; left--) {
            write(request(in, epoch), out);
        }
    }

    private Answer request(DataInputStream in, int epoch) throws IOException {
        short version = in.readShort();
        String transactionalId = in.readUTF();
        boolean verified = in.readBoolean();
        clock.now = in.readLong();
        byte[] set = new byte[in.readInt()];
        in.readFully(set);
        MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(set));
        try {
            if (version < 0) {
                return append(() -> log.mark(records, epoch, Short.parseShort(transactionalId)));
            }
            requestLayer(records, version, transactionalId);
            VerificationGuard guard = guard(records, version, transactionalId, verified);
            return append(() -> log.append(records, epoch, guard));
        } catch (Throwable error) { // as ReplicaManager.appendToLocalLog
            return new Answer(error, null, new byte[0]);
        }
    }

    /** KafkaApis.handleProduceRequest. */
    private static void requestLayer(MemoryRecords records, short version, String transactionalId) {
        ProduceRequestData data = new ProduceRequestData();
        ProduceRequestData.TopicProduceData topic = new ProduceRequestData.TopicProduceData();
        topic.partitionData().add(new ProduceRequestData.PartitionProduceData().setRecords(records));
        data.topicData().add(topic);
        boolean transactional = RequestUtils.hasTransactionalRecords(new ProduceRequest(data, version));
        if (transactional && transactionalId.isEmpty()) {
            throw new TransactionalIdAuthorizationException("no transactional id");
        }
        ProduceRequest.validateRecords(version, records);
    }

    /** ReplicaManager.handleProduceAppend, with a coordinator that knows each transaction or none. */
    private VerificationGuard guard(MemoryRecords records, short version, String transactionalId, boolean verified) {
        List<MutableRecordBatch> transactional = new ArrayList<>();
        for (MutableRecordBatch batch : records.batches()) {
            if (batch.hasProducerId() && batch.isTransactional()) {
                transactional.add(batch);
            }
        }
        Set<List<Number>> producers = new HashSet<>();
        transactional.forEach(batch -> producers.add(List.of(batch.producerId(), batch.producerEpoch())));
        if (!transactional.isEmpty()) {
            records.firstBatch().baseSequence(); // which is read here, also beyond the end of the batch
        }
        if (producers.size() > 1) {
            throw new InvalidPidMappingException("Transactional records contained more than one producer ID");
        }
        if (producers.isEmpty() || transactionalId.isEmpty()) {
            return VerificationGuard.SENTINEL;
        }
        VerificationGuard guard = log.guard(records.batches().iterator().next(), version);
        if (guard != VerificationGuard.SENTINEL && !verified) {
            throw new NotEnoughReplicasException("Unable to verify the partition has been added to the transaction.");
        }
        return guard;
    }

    private Answer append(Callable<LogAppendInfo> appending) throws Exception {
        BrokerLog.Position before = log.position();
        LogAppendInfo info = appending.call();
        return new Answer(null, info, log.since(before));
    }

    private static void write(Answer answer, DataOutputStream out) throws IOException {
        Throwable error = answer.error;
        List<RecordError> records = List.of();
        if (error instanceof RecordValidationException invalid) {
            error = invalid.invalidException();
            records = invalid.recordErrors();
        }
        out.writeShort(error == null ? 0 : Errors.forException(error).code());
        text(records.isEmpty() ? "" : error.getMessage(), out);
        text(error == null ? "" : error.getClass().getSimpleName() + ": " + error.getMessage(), out);
        out.writeInt(records.size());
        for (RecordError record : records) {
            out.writeInt(record.batchIndex);
            text(record.message == null ? "" : record.message, out);
        }
        LogAppendInfo info = answer.info;
        out.writeLong(info == null ? -1 : info.firstOffset());
        out.writeLong(info == null ? -1 : info.lastOffset());
        out.writeLong(info == null ? -1 : info.logAppendTime());
        out.writeLong(info == null ? -1 : info.maxTimestamp());
        out.writeInt(info == null ? 0 : info.recordValidationStats().numRecordsConverted());
        out.writeLong(info == null ? 0 : info.recordValidationStats().temporaryMemoryBytes());
        out.writeInt(answer.stored.length);
        out.write(answer.stored);
    }

    private static void text(String text, DataOutputStream out) throws IOException {
        out.writeUTF(text.length() > MOST_TEXT ? text.substring(0, MOST_TEXT) : text);
    }
}
