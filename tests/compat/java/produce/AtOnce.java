import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.server.util.Scheduler;

/** Deletes the files of an emptied log at once; whatever else a broker does later is not done. */
final class AtOnce implements Scheduler {
    private static final ScheduledFuture<?> LATER =
        Executors.newSingleThreadScheduledExecutor().schedule(() -> { }, 1, TimeUnit.DAYS);

    @Override
    public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
        if (name.equals("delete-file")) {
            task.run();
        }
        return LATER;
    }

    @Override
    public void startup() { }

    @Override
    public void shutdown() { }

    @Override
    public void resizeThreadPool(int newSize) { }
}
