import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.*;

/**
 * Kafka's own producers and consumers.
 *
 * write ADDRESS TOPIC:PRODUCERS:BATCHES:CODEC...  producers take turns; those with an odd number are transactional
 * read ADDRESS LEVEL TOPIC...                     every record that a consumer gets, and the end: one line each
 */
public class Clients {
    static final int RECORDS = 8; // in a batch
    static final String[] CODECS = {"none", "gzip", "snappy", "lz4", "zstd"};

    public static void main(String[] args) throws Exception {
        if (args[0].equals("write"))
            for (String topic : Arrays.asList(args).subList(2, args.length))
                write(args[1], topic.split(":"));
        else
            read(args[1], args[2], Arrays.asList(args).subList(3, args.length));
    }

    static void write(String address, String[] spec) throws Exception {
        String topic = spec[0];
        int producers = Integer.parseInt(spec[1]), batches = Integer.parseInt(spec[2]);
        List<KafkaProducer<byte[], byte[]>> all = new ArrayList<>();
        for (int number = 0; number < producers; number++) {
            Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", address, "linger.ms", 60000,
                "batch.size", 100000, "buffer.memory", 200000L,
                "compression.type", spec[3].equals("all") ? CODECS[number % CODECS.length] : spec[3]));
            if (number % 2 == 1)
                settings.put("transactional.id", topic + "-" + number);
            all.add(new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer()));
            if (number % 2 == 1)
                all.get(number).initTransactions();
        }
        Random draw = new Random(7);
        for (int round = 0; round < batches; round++) {
            if (round == batches / 2)
                Thread.sleep(700); // the segment is older than segment.ms then
            for (int number = 0; number < producers; number++) {
                KafkaProducer<byte[], byte[]> producer = all.get(number);
                boolean transactional = number % 2 == 1, last = round == batches - 1;
                if (transactional && round % 2 == 0)
                    producer.beginTransaction();
                for (int record = 0; record < RECORDS; record++) {
                    String text = number + " " + round + " " + record;
                    byte[] value = draw.nextInt(10) == 0 ? null : bytes(text + " a line that compresses");
                    ProducerRecord<byte[], byte[]> one =
                        new ProducerRecord<>(topic, 0, bytes("key" + draw.nextInt(200)), value);
                    one.headers().add("h", bytes(text)).add("empty", null);
                    producer.send(one);
                }
                producer.flush();
                if (transactional && (last || round % 2 == 1)) {
                    if ((round / 2 + number / 2) % 3 == 0)
                        producer.abortTransaction();
                    else
                        producer.commitTransaction();
                }
            }
        }
        for (KafkaProducer<byte[], byte[]> producer : all)
            producer.close();
    }

    static void read(String address, String level, List<String> topics) {
        Map<String, Object> settings = Map.of("bootstrap.servers", address, "isolation.level", level,
            "enable.auto.commit", false, "auto.offset.reset", "none");
        StringBuilder out = new StringBuilder();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            for (String topic : topics) {
                TopicPartition partition = new TopicPartition(topic, 0);
                consumer.assign(List.of(partition));
                consumer.seekToBeginning(List.of(partition));
                long end = consumer.endOffsets(List.of(partition)).get(partition);
                while (consumer.position(partition) < end)
                    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1)))
                        print(out, record);
                out.append(topic).append("\tend\t").append(end).append('\n');
            }
        }
        System.out.print(out);
    }

    static void print(StringBuilder out, ConsumerRecord<byte[], byte[]> record) {
        out.append(record.topic()).append('\t').append(record.offset()).append('\t').append(record.timestamp());
        out.append('\t').append(record.timestampType()).append('\t').append(text(record.key()));
        out.append('\t').append(text(record.value()));
        for (Header header : record.headers())
            out.append('\t').append(header.key()).append('=').append(text(header.value()));
        out.append('\n');
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] bytes) {
        return bytes == null ? "null" : new String(bytes, StandardCharsets.UTF_8);
    }
}
