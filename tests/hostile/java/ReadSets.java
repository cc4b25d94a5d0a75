import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.Callable;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.utils.internals.CloseableIterator;

/**
 * Kafka's own classes read record sets, as the consumer does with check.crcs=false. usage: ReadSets FILE
 * FILE has one set after another, each after its size (int32). One line is printed per set, batch, record and error,
 * in the words of tests/hostile/test_beside_kafka.py.
 */
public final class ReadSets {
    private static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    public static void main(String[] args) throws Exception {
        ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(Path.of(args[0])));
        while (all.hasRemaining()) {
            byte[] set = new byte[all.getInt()];
            all.get(set);
            OUT.println("set");
            read(set);
        }
        OUT.flush();
    }

    private static void read(byte[] set) {
        try {
            for (MutableRecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(set)).batches()) {
                OUT.println("batch " + batch.magic() + " " + text(() -> base(batch)) + " " + batch.lastOffset() + " "
                    + text(() -> batch.compressionType().name) + " " + batch.isValid() + " " + batch.maxTimestamp() + " "
                    + batch.baseSequence() + " " + batch.lastSequence() + " " + batch.countOrNull() + " "
                    + batch.deleteHorizonMs().orElse(-1) + " " + batch.isTransactional() + " "
                    + batch.isControlBatch() + " " + batch.producerId() + " " + batch.producerEpoch() + " "
                    + batch.partitionLeaderEpoch());
                records(batch);
            }
        } catch (Throwable error) {
            OUT.println("error");
        }
    }

    private static void records(MutableRecordBatch batch) {
        try (CloseableIterator<Record> records = batch.streamingIterator(BufferSupplier.NO_CACHING)) {
            while (records.hasNext()) {
                OUT.println(line(batch, records.next()));
            }
        } catch (OutOfMemoryError error) { // a size field that lies
            OUT.println("no memory");
        } catch (Throwable error) { // snappy-java's are no Exceptions
            OUT.println("record error");
        }
    }

    /** What recordpress raises for the first message of a wrapper, Kafka does where its fields are asked for. */
    private static long base(MutableRecordBatch batch) {
        if (batch.magic() < 2 && batch.isCompressed()) {
            line(batch, batch.iterator().next());
        }
        return batch.baseOffset();
    }

    private static String line(MutableRecordBatch batch, Record record) {
        StringBuilder line = new StringBuilder("record " + record.offset() + " " + record.timestamp() + " "
            + appended(batch, record) + " " + record.sequence() + " "
            + hex(record.key()) + " " + hex(record.value()));
        for (Header header : record.headers()) {
            byte[] value = header.value();
            line.append(" ").append(hex(ByteBuffer.wrap(header.key().getBytes(StandardCharsets.UTF_8)))).append("=")
                .append(hex(value == null ? null : ByteBuffer.wrap(value)));
        }
        return line.toString();
    }

    /** A record of v2 does not know. */
    private static boolean appended(MutableRecordBatch batch, Record record) {
        return batch.magic() == 2 ? batch.timestampType() == TimestampType.LOG_APPEND_TIME
            : record.hasTimestampType(TimestampType.LOG_APPEND_TIME);
    }

    private static String hex(ByteBuffer bytes) {
        if (bytes == null) {
            return "null";
        }
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        return "'" + HexFormat.of().formatHex(copy) + "'";
    }

    private static String text(Callable<Object> field) {
        try {
            return String.valueOf(field.call());
        } catch (Throwable error) {
            return "error";
        }
    }
}
