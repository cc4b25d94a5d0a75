import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.PrimitiveRef;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogValidator;

/**
 * What a broker does with a Produce request's batch before it appends it: the checksum, and LogValidator.
 *
 * usage: Validator CODEC PATH, with the log's compression.type and a file that holds one batch.
 * The questions on the input and the answers are those of bench/peers/worker.py.
 */
public final class Validator {
    private static final TopicPartition PARTITION = new TopicPartition("topic", 0);
    private static final LogValidator.MetricsRecorder NO_METRICS = new LogValidator.MetricsRecorder() {
        @Override public void recordInvalidMagic() { }
        @Override public void recordInvalidOffset() { }
        @Override public void recordInvalidSequence() { }
        @Override public void recordInvalidChecksums() { }
        @Override public void recordNoKeyCompactedTopic() { }
    };

    private final BufferSupplier buffers = BufferSupplier.create();
    private final ByteBuffer data;
    private final Compression target;
    private LogValidator.ValidationResult result;

    private Validator(Compression target, byte[] data) {
        this.target = target;
        this.data = ByteBuffer.wrap(data);
    }

    private void validate() {
        MemoryRecords records = MemoryRecords.readableRecords(data.duplicate());
        CompressionType source = CompressionType.NONE;
        for (MutableRecordBatch batch : records.batches()) {
            batch.ensureValid();
            source = batch.compressionType();
        }
        result = new LogValidator(records, PARTITION, Time.SYSTEM, source, target, false, RecordBatch.MAGIC_VALUE_V2,
            TimestampType.CREATE_TIME, Long.MAX_VALUE, Long.MAX_VALUE, 0, AppendOrigin.CLIENT)
            .validateMessagesAndAssignOffsets(PrimitiveRef.ofLong(0), NO_METRICS, buffers);
    }

    /** How many records, the sums of offsets and timestamps, and the CRC-32 of keys and values after their lengths. */
    private String told() {
        validate();
        long records = 0, offsets = 0, timestamps = 0;
        CRC32 crc = new CRC32();
        for (Record record : result.validatedRecords().records()) {
            records++;
            offsets += record.offset();
            timestamps += record.timestamp();
            digest(crc, record.key());
            digest(crc, record.value());
        }
        return records + " " + offsets + " " + timestamps + " " + crc.getValue();
    }

    private static void digest(CRC32 crc, ByteBuffer bytes) {
        crc.update(ByteBuffer.allocate(4).putInt(bytes == null ? -1 : bytes.remaining()).flip());
        if (bytes != null) {
            crc.update(bytes);
        }
    }

    public static void main(String[] arguments) throws IOException {
        Compression target = Compression.of(CompressionType.forName(arguments[0])).build();
        Validator validator = new Validator(target, Files.readAllBytes(Path.of(arguments[1])));
        Questions.answer(validator::validate, validator::told);
    }
}
