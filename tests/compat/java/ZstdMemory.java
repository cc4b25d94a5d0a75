import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.utils.BufferSupplier;

/** For each file, a zstd payload: the memory that Kafka's decoder has allocated once it gave a byte, or its error. */
class ZstdMemory {
    static final int STREAMS = 16;

    static long allocated() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmData:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
            }
        }
        throw new AssertionError("no VmData");
    }

    static Object memory(byte[] payload) throws Exception {
        List<AutoCloseable> open = new ArrayList<>();
        long before = allocated();
        try {
            for (int i = 0; i < STREAMS; i++) {
                var stream = Compression.zstd().build().wrapForInput(ByteBuffer.wrap(payload), (byte) 2, BufferSupplier.NO_CACHING);
                open.add(stream);
                if (stream.read() < 0) {
                    throw new AssertionError("empty");
                }
            }
            return (allocated() - before) / STREAMS;
        } catch (Exception error) {
            return error.getMessage();
        } finally {
            for (AutoCloseable stream : open) {
                stream.close();
            }
        }
    }

    public static void main(String[] files) throws Exception {
        memory(Files.readAllBytes(Path.of(files[0])));
        for (String file : files) {
            System.out.println(memory(Files.readAllBytes(Path.of(file))));
        }
    }
}
