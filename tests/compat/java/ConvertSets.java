import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.network.TransferableChannel;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.FileRecords;
import org.apache.kafka.common.record.LazyDownConversionRecords;
import org.apache.kafka.common.record.LazyDownConversionRecordsSend;
import org.apache.kafka.common.record.RecordValidationStats;
import org.apache.kafka.common.utils.Time;

/**
 * Kafka's own classes convert what a broker read of its log for an old client, and send it.
 * usage: ConvertSets SEGMENT QUESTIONS. A question is magic, offset, position and size in the segment (byte, long, int, int);
 * its answer, on standard output, is a code (short; CLOSED if the connection would be closed while the response is sent,
 * NO_ANSWER if this JVM has not the memory), what was announced (int), records converted and temporary bytes (int, long), and the bytes (int, then they).
 */
public final class ConvertSets {
    private static final int CLOSED = 1000;
    private static final int NO_ANSWER = 1001;
    private static final TopicPartition PARTITION = new TopicPartition("topic", 0);

    public static void main(String[] args) throws IOException {
        FileRecords segment = FileRecords.open(new File(args[0]));
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(args[1])));
             DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out, 1 << 16))) {
            while (in.available() > 0) {
                byte magic = in.readByte();
                long offset = in.readLong();
                answer(segment.slice(in.readInt(), in.readInt()), magic, offset, out);
            }
        }
    }

    private static void answer(FileRecords records, byte magic, long offset, DataOutputStream out) throws IOException {
        Sent sent = new Sent();
        LazyDownConversionRecords converted;
        try {
            converted = new LazyDownConversionRecords(PARTITION, records, magic, offset, Time.SYSTEM);
        } catch (OutOfMemoryError e) {
            write(out, NO_ANSWER, 0, new RecordValidationStats(0, 0, 0), sent);
            return;
        } catch (Throwable e) { // KafkaApis.handleError
            write(out, Errors.forException(e).code(), 0, new RecordValidationStats(0, 0, 0), sent);
            return;
        }
        LazyDownConversionRecordsSend send = converted.toSend();
        int code = 0;
        try {
            while (!send.completed())
                send.writeTo(sent);
        } catch (OutOfMemoryError e) {
            code = NO_ANSWER;
        } catch (Throwable e) { // Selector.pollSelectionKeys
            code = CLOSED;
        }
        write(out, code, converted.sizeInBytes(), send.recordConversionStats(), sent);
    }

    private static void write(DataOutputStream out, int code, int size, RecordValidationStats stats, Sent sent)
            throws IOException {
        out.writeShort(code);
        out.writeInt(size);
        out.writeInt(stats.numRecordsConverted());
        out.writeLong(stats.temporaryMemoryBytes());
        out.writeInt(sent.bytes.size());
        sent.bytes.writeTo(out);
    }

    /** A connection that takes everything. */
    private static final class Sent implements TransferableChannel {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        @Override public boolean hasPendingWrites() {
            return false;
        }

        @Override public long transferFrom(FileChannel file, long position, long count) throws IOException {
            ByteBuffer buffer = ByteBuffer.allocate((int) count);
            file.read(buffer, position);
            buffer.flip();
            return write(buffer);
        }

        @Override public int write(ByteBuffer source) {
            byte[] copy = new byte[source.remaining()];
            source.get(copy);
            bytes.write(copy, 0, copy.length);
            return copy.length;
        }

        @Override public long write(ByteBuffer[] sources, int offset, int length) {
            long written = 0;
            for (int i = offset; i < offset + length; i++)
                written += write(sources[i]);
            return written;
        }

        @Override public long write(ByteBuffer[] sources) {
            return write(sources, 0, sources.length);
        }

        @Override public boolean isOpen() {
            return true;
        }

        @Override public void close() {
        }
    }
}
