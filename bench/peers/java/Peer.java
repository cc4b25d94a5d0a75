import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
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

    private static Questions.Job decode(Peer peer, String name, Path path) throws IOException {
        switch (name) {
            case "decode":
                ByteBuffer data = ByteBuffer.wrap(Files.readAllBytes(path));
                return () -> peer.visit(MemoryRecords.readableRecords(data.duplicate()).batches());
            case "decode_file":
                File file = path.toFile();
                return () -> {
                    try (FileRecords records = FileRecords.open(file, false)) {
                        peer.visit(records.batches());
                    }
                };
            default:
                throw new IllegalArgumentException(name);
        }
    }

    public static void main(String[] arguments) throws IOException {
        Peer peer = new Peer();
        Questions.Job visit = decode(peer, arguments[0], Path.of(arguments[1]));
        Questions.answer(() -> {
            peer.tally = new Tally(false);
            visit.run();
        }, () -> {
            peer.tally = new Tally(true);
            visit.run();
            return peer.tally.toString();
        });
    }
}
