import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * What people do to have a topic in another codec: consume it, and produce each record into a topic of that codec.
 *
 * usage: Recompress create ADDRESS TOPIC...
 *        Recompress copy ADDRESS FROM TO CODEC LEVEL
 * The copy prints how many records it wrote. Topics have one partition.
 */
public final class Recompress {
    private static final int BATCH = 1 << 20;

    private Recompress() { }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("create")) {
            create(arguments[1], List.of(arguments).subList(2, arguments.length));
        } else {
            System.out.println(copy(arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]));
        }
    }

    private static void create(String address, List<String> topics) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", address))) {
            admin.createTopics(topics.stream().map(name -> new NewTopic(name, 1, (short) 1)
                .configs(Map.of("max.message.bytes", "10000000", "segment.bytes", "1073741824"))).toList()).all().get();
        }
    }

    private static long copy(String address, String from, String to, String codec, String level) throws Exception {
        TopicPartition source = new TopicPartition(from, 0);
        long copied = 0;
        Future<RecordMetadata> last = null;
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(consuming(address));
             KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(producing(address, codec, level))) {
            consumer.assign(Collections.singleton(source));
            consumer.seekToBeginning(Collections.singleton(source));
            long end = consumer.endOffsets(Collections.singleton(source)).get(source);
            while (consumer.position(source) < end) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofSeconds(1));
                for (ConsumerRecord<byte[], byte[]> record : records) {
                    last = producer.send(new ProducerRecord<>(to, 0, record.timestamp(), record.key(), record.value(),
                        record.headers()));
                    copied++;
                }
            }
            written(producer, last);
        }
        return copied;
    }

    /** Idempotence keeps the order, so what holds for the last record holds for all before it. */
    private static void written(KafkaProducer<byte[], byte[]> producer, Future<RecordMetadata> last)
            throws ExecutionException, InterruptedException {
        producer.flush();
        if (last != null) {
            last.get();
        }
    }

    private static Properties consuming(String address) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", address);
        settings.put("key.deserializer", ByteArrayDeserializer.class);
        settings.put("value.deserializer", ByteArrayDeserializer.class);
        settings.put("enable.auto.commit", "false");
        settings.put("fetch.min.bytes", BATCH);
        settings.put("max.partition.fetch.bytes", 8 * BATCH);
        settings.put("max.poll.records", 10000);
        return settings;
    }

    private static Properties producing(String address, String codec, String level) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", address);
        settings.put("key.serializer", ByteArraySerializer.class);
        settings.put("value.serializer", ByteArraySerializer.class);
        settings.put("compression.type", codec);
        settings.put("compression." + codec + ".level", level);
        settings.put("linger.ms", 100);
        settings.put("batch.size", BATCH);
        settings.put("buffer.memory", 64 * BATCH);
        settings.put("max.request.size", 8 * BATCH);
        return settings;
    }
}
