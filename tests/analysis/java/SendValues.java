import java.io.DataInputStream;
import java.io.EOFException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends values to several topics, each with the settings of its line on standard input: topic name=value name=value ...
 *
 * Arguments: the broker's address, and a file of values, each after its length (int32).
 */
public final class SendValues {
    public static void main(String[] arguments) throws Exception {
        List<byte[]> values = read(Path.of(arguments[1]));
        for (String line : new String(System.in.readAllBytes()).split("\n")) {
            send(arguments[0], line.split(" "), values);
        }
    }

    private static List<byte[]> read(Path file) throws Exception {
        List<byte[]> values = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
            while (true) {
                values.add(in.readNBytes(in.readInt()));
            }
        } catch (EOFException end) {
            return values;
        }
    }

    private static void send(String address, String[] line, List<byte[]> values) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", address);
        settings.put("linger.ms", "60000"); // batches are full before that
        settings.put("max.in.flight.requests.per.connection", "1");
        for (int i = 1; i < line.length; i++) {
            String[] setting = line[i].split("=", 2);
            settings.put(setting[0], setting[1]);
        }
        ByteArraySerializer serializer = new ByteArraySerializer();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, serializer, serializer)) {
            List<Future<?>> sent = new ArrayList<>();
            for (byte[] value : values) {
                sent.add(producer.send(new ProducerRecord<>(line[0], value)));
            }
            producer.flush();
            for (Future<?> one : sent) {
                one.get();
            }
        }
    }
}
