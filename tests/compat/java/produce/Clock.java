import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/** A clock that stands still. */
final class Clock implements Time {
    long now;

    @Override
    public long milliseconds() {
        return now;
    }

    @Override
    public long nanoseconds() {
        return System.nanoTime();
    }

    @Override
    public void sleep(long ms) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new UnsupportedOperationException();
    }
}
