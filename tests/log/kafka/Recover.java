import java.io.File;
import java.nio.file.*;
import java.util.*;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.*;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/** What a broker's recovery leaves of the directories that the lines of a file name. */
public class Recover {
    public static void main(String[] args) throws Exception {
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        BrokerTopicStats stats = new BrokerTopicStats();
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            File dir = new File(line);
            Map<String, String> settings = Map.of("index.interval.bytes", args[1], "retention.ms", "-1");
            StringBuilder out = new StringBuilder(dir.getName()).append('\t');
            try {
                UnifiedLog log = UnifiedLog.create(dir, new LogConfig(settings), 0L, 0L, scheduler, stats, Time.SYSTEM,
                    900000, new ProducerStateManagerConfig(86400000, false), 600000, new LogDirFailureChannel(10),
                    false, Optional.empty());
                out.append("kept\t").append(log.logEndOffset());
                for (LogSegment segment : log.logSegments())
                    out.append('\t').append(segment.baseOffset()).append(':').append(segment.size());
                log.close();
            } catch (Throwable error) {
                out.append("refused\t").append(error.getClass().getSimpleName()).append(": ").append(error.getMessage());
            }
            System.out.println(out.toString().replace("\n", " "));
        }
        System.exit(0);
    }
}
