import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;
import java.util.zip.CRC32;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.utils.internals.CloseableIterator;

/**
 * Kafka's own client reads a record set as its consumer does with ByteArrayDeserializer: CRC checked, arrays made of
 * each key and value.
 *
 * usage: Peer JOB PATH, where JOB is "decode" (a record set in memory) or "decode_file" (a log file on the disk).
 * The questions on the input and the answers are those of bench/peers/worker.py.
 */
public final class Peer {
    private static final long WARM_UP_NS = 5_000_000_000L;

    private final BufferSupplier buffers = BufferSupplier.create();
    private Tally tally;

    /** What was read. The arrays are left in fields, so that they are really made. */
    private static final class Tally {
        final boolean digests;
        final CRC32 crc = new CRC32();
        final ByteBuffer length = ByteBuffer.allocate(4);
        long records, offsets, timestamps;
        byte[] key, value;

        Tally(boolean digests) {
            this.digests = digests;
        }

        void add(long offset, long timestamp, byte[] key, byte[] value) {
            records++;
            offsets += offset;
            timestamps += timestamp;
            this.key = key;
            this.value = value;
            if (digests) {
                digest(key);
                digest(value);
            }
        }

        private void digest(byte[] bytes) {
            crc.update(length.clear().putInt(bytes == null ? -1 : bytes.length).flip());
            if (bytes != null) {
                crc.update(bytes);
            }
        }

        @Override
        public String toString() {
            return records + " " + offsets + " " + timestamps + " " + crc.getValue();
        }
    }

    private void visit(Iterable<? extends RecordBatch> batches) {
        for (RecordBatch batch : batches) {
            batch.ensureValid();
            try (CloseableIterator<Record> records = batch.streamingIterator(buffers)) {
                while (records.hasNext()) {
                    Record record = records.next();
                    tally.add(record.offset(), record.timestamp(),
                              Utils.toNullableArray(record.key()), Utils.toNullableArray(record.value()));
                }
            }
        }
    }

    private Tally run(Job job, boolean digests) throws IOException {
        tally = new Tally(digests);
        job.run();
        return tally;
    }

    private interface Job {
        void run() throws IOException;
    }

    private Job job(String name, Path path) throws IOException {
        switch (name) {
            case "decode":
                ByteBuffer data = ByteBuffer.wrap(Files.readAllBytes(path));
                return () -> visit(MemoryRecords.readableRecords(data.duplicate()).batches());
            case "decode_file":
                File file = path.toFile();
                return () -> {
                    try (FileRecords records = FileRecords.open(file, false)) {
                        visit(records.batches());
                    }
                };
            default:
                throw new IllegalArgumentException(name);
        }
    }

    /** Nanoseconds by the clock of that name in Python's module time. */
    private static LongSupplier clock(String name) {
        switch (name) {
            case "thread_time": return ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime;
            case "process_time":
                return ((com.sun.management.OperatingSystemMXBean)
                        ManagementFactory.getOperatingSystemMXBean())::getProcessCpuTime;
            case "perf_counter": return System::nanoTime;
            default: throw new IllegalArgumentException(name);
        }
    }

    private long time(Job job, long calls, LongSupplier clock) throws IOException {
        long start = clock.getAsLong();
        for (long i = 0; i < calls; i++) {
            run(job, false);
        }
        return clock.getAsLong() - start;
    }

    /** Until the JIT has compiled all of it. */
    private void warmUp(Job job) throws IOException {
        LongSupplier cpu = clock("thread_time");
        for (long left = WARM_UP_NS; left > 0;) {
            left -= time(job, 1, cpu);
        }
    }

    public static void main(String[] arguments) throws IOException {
        Peer peer = new Peer();
        Job job = peer.job(arguments[0], Path.of(arguments[1]));
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in));
        boolean warm = false;
        for (String line; (line = questions.readLine()) != null;) {
            if (line.equals("answer")) {
                System.out.println(peer.run(job, true));
                continue;
            }
            if (!warm) {
                peer.warmUp(job);
                warm = true;
            }
            String[] words = line.split(" ");
            System.out.println(peer.time(job, Long.parseLong(words[0]), clock(words[1])) / 1e9);
        }
    }
}
