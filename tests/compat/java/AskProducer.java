import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.apache.kafka.clients.MetadataSnapshot;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.clients.producer.internals.ProducerBatch;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.AbstractRecords;
import org.apache.kafka.common.record.internal.CompressionRatioEstimator;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.requests.MetadataResponse.PartitionMetadata;
import org.apache.kafka.common.utils.*;
import org.apache.kafka.common.utils.internals.*; // where Kafka 4.4 has LogContext

/**
 * What Kafka's RecordAccumulator, ProducerBatch and CompressionRatioEstimator do, asked over standard input.
 *
 * A stream is its settings and steps, and a byte of 0 at its end: 'a' append, 'd' drain, 'c' the answer to the batch
 * that has been on its way for longest. Each step is answered at once. Another stream follows, or the end of input.
 * With the argument "estimator", the steps are those of the estimator, and so are the answers.
 */
public final class AskProducer {
    private static final String TOPIC = "t";
    private static final int SUCCESS = 0;
    private static final int TOO_LARGE = 1;

    private final DataInputStream in;
    private final DataOutputStream out;
    private final Clock clock = new Clock();
    private final Deque<ProducerBatch> flying = new ArrayDeque<>();
    private RecordAccumulator accumulator;
    private MetadataSnapshot metadata;
    private CompressionType codec;
    private int batchSize;
    private int maxRequestSize;
    private final List<Integer> order = new ArrayList<>(); // of the partitions, as their nodes have them
    private int nodes;
    private int first; // of the nodes, as of the partitions of one: the one that was last before

    /** A clock that stands still. */
    private static final class Clock implements Time {
        private long now;

        @Override
        public long milliseconds() {
            return now;
        }

        @Override
        public long nanoseconds() {
            return now * 1_000_000;
        }

        @Override
        public void sleep(long ms) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
            throw new UnsupportedOperationException();
        }
    }

    private AskProducer(DataInputStream in, DataOutputStream out) {
        this.in = in;
        this.out = out;
    }

    public static void main(String[] arguments) throws Exception {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out, 1 << 16))) {
            if (arguments.length > 0 && arguments[0].equals("estimator")) {
                estimate(in, out);
                return;
            }
            while (true) {
                new AskProducer(in, out).stream();
            }
        } catch (EOFException end) {
            return;
        }
    }

    private static void estimate(DataInputStream in, DataOutputStream out) throws IOException {
        while (true) {
            int step;
            try {
                step = in.readByte();
            } catch (EOFException end) {
                return;
            }
            String topic = in.readUTF();
            CompressionType codec = CompressionType.forId(in.readByte());
            float ratio = in.readFloat();
            if (step == 'u') {
                out.writeFloat(CompressionRatioEstimator.updateEstimation(topic, codec, ratio));
                continue;
            } else if (step == 's') {
                CompressionRatioEstimator.setEstimation(topic, codec, ratio);
            } else if (step == 'r') {
                CompressionRatioEstimator.resetEstimation(topic);
            }
            out.writeFloat(CompressionRatioEstimator.estimation(topic, codec));
        }
    }

    private void stream() throws Exception {
        open();
        while (true) {
            int step = in.readByte();
            if (step == 0) {
                out.flush();
                return;
            }
            clock.now = in.readLong();
            if (step == 'a') {
                append();
            } else if (step == 'd') {
                drain(in.readBoolean());
            } else {
                answer(in.readByte());
            }
        }
    }

    private void open() throws IOException {
        batchSize = Math.max(1, in.readInt());
        int lingerMs = in.readInt();
        codec = CompressionType.forId(in.readByte());
        maxRequestSize = in.readInt();
        int partitions = in.readInt();
        boolean oneNode = in.readBoolean();
        CompressionRatioEstimator.resetEstimation(TOPIC);
        CompressionRatioEstimator.setEstimation(TOPIC, codec, in.readFloat());
        Metrics metrics = new Metrics(clock);
        BufferPool pool = new BufferPool(1L << 30, batchSize, metrics, clock, "producer-metrics");
        accumulator = new RecordAccumulator(new LogContext(), batchSize, Compression.of(codec).build(), lingerMs, 0, 0,
            Integer.MAX_VALUE, metrics, "producer-metrics", clock, null, pool);
        nodes = oneNode ? 1 : partitions;
        Map<Integer, Node> byId = new HashMap<>();
        List<PartitionMetadata> known = new ArrayList<>();
        for (int i = 0; i < partitions; i++) {
            int node = oneNode ? 0 : i;
            byId.put(node, new Node(node, "localhost", 9092));
            known.add(new PartitionMetadata(Errors.NONE, new TopicPartition(TOPIC, i), Optional.of(node),
                Optional.empty(), List.of(node), List.of(node), List.of()));
        }
        metadata = new MetadataSnapshot("", byId, known, Set.of(), Set.of(), Set.of(), null, Map.of());
        for (int node = 0; node < nodes; node++) {
            metadata.cluster().partitionsForNode(node).forEach(part -> order.add(part.partition()));
        }
    }

    private byte[] bytes() throws IOException {
        int size = in.readInt();
        return size < 0 ? null : in.readNBytes(size);
    }

    private void append() throws Exception {
        int partition = order.get(in.readInt());
        long timestamp = in.readLong();
        byte[] key = bytes();
        byte[] value = bytes();
        Header[] headers = new Header[in.readInt()];
        for (int i = 0; i < headers.length; i++) {
            headers[i] = new RecordHeader(in.readUTF(), bytes());
        }
        RecordAccumulator.RecordAppendResult result = accumulator.append(TOPIC, partition, timestamp, key, value,
            headers, new RecordAccumulator.AppendCallbacks() {
                @Override
                public void setPartition(int chosen) {
                }

                @Override
                public void onCompletion(RecordMetadata stored, Exception error) {
                }
            }, 0, clock.now, metadata.cluster());
        out.writeBoolean(result.batchIsFull);
        out.writeInt(AbstractRecords.estimateSizeInBytesUpperBound(RecordBatch.CURRENT_MAGIC_VALUE, codec, key, value,
            headers));
    }

    private void drain(boolean flush) throws Exception {
        if (flush) {
            accumulator.beginFlush();
        }
        List<Node> ready = new ArrayList<>(accumulator.ready(metadata, clock.now).readyNodes);
        ready.sort(Comparator.comparing(node -> Math.floorMod(node.id() - first, nodes)));
        first = ready.isEmpty() ? first : Math.floorMod(first - 1, nodes);
        List<ProducerBatch> drained = new ArrayList<>();
        for (Node node : ready) {
            drained.addAll(accumulator.drain(metadata, Set.of(node), maxRequestSize, clock.now).get(node.id()));
        }
        if (flush) {
            endFlush();
        }
        out.writeInt(drained.size());
        for (ProducerBatch batch : drained) {
            out.writeInt(order.indexOf(partition(batch)));
            out.writeInt(number(batch, "recordCount"));
            out.writeInt(batch.records().sizeInBytes());
            out.writeFloat((float) batch.compressionRatio());
        }
        out.writeFloat(CompressionRatioEstimator.estimation(TOPIC, codec));
        flying.addAll(drained);
    }

    /** What awaitFlushCompletion does at its end, which waits until all batches are answered. */
    private void endFlush() throws ReflectiveOperationException {
        Field flushes = RecordAccumulator.class.getDeclaredField("flushesInProgress");
        flushes.setAccessible(true);
        ((AtomicInteger) flushes.get(accumulator)).decrementAndGet();
    }

    private static Object field(ProducerBatch batch, String name) throws ReflectiveOperationException {
        Field field = ProducerBatch.class.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(batch);
    }

    private static int number(ProducerBatch batch, String name) throws ReflectiveOperationException {
        return (Integer) field(batch, name);
    }

    private static int partition(ProducerBatch batch) throws ReflectiveOperationException {
        return ((TopicPartition) field(batch, "topicPartition")).partition();
    }

    /** Sender.completeBatch: split, sent again, or stored. */
    private void answer(int code) throws Exception {
        ProducerBatch batch = flying.pollFirst();
        int parts = 0;
        if (batch == null) {
            parts = -1;
        } else if (code == TOO_LARGE && number(batch, "recordCount") > 1) {
            parts = accumulator.splitAndReenqueue(batch);
            accumulator.deallocate(batch);
        } else if (code == SUCCESS || code == TOO_LARGE) {
            batch.complete(0, -1);
            accumulator.completeAndDeallocateBatch(batch);
        } else {
            accumulator.reenqueue(batch, clock.now);
        }
        out.writeInt(parts);
        out.writeFloat(CompressionRatioEstimator.estimation(TOPIC, codec));
    }
}
