import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/** The questions of bench/peers/worker.py on standard input, and their answers. */
final class Questions {
    private static final long WARM_UP_NS = 5_000_000_000L;

    interface Job {
        void run() throws IOException;
    }

    interface Answer {
        String text() throws IOException;
    }

    private Questions() { }

    static void answer(Job job, Answer answer) throws IOException {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in));
        boolean warm = false;
        for (String line; (line = questions.readLine()) != null;) {
            if (line.equals("answer")) {
                System.out.println(answer.text());
                continue;
            }
            if (!warm) {
                warmUp(job);
                warm = true;
            }
            String[] words = line.split(" ");
            System.out.println(time(job, Long.parseLong(words[0]), clock(words[1])) / 1e9);
        }
    }

    /** Nanoseconds by the clock of that name in Python's module time. */
    private static LongSupplier clock(String name) {
        switch (name) {
            case "thread_time": return ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime;
            case "process_time":
                return ((com.sun.management.OperatingSystemMXBean)
                        ManagementFactory.getOperatingSystemMXBean())::getProcessCpuTime;
            case "perf_counter": return System::nanoTime;
            default: throw new IllegalArgumentException(name);
        }
    }

    private static long time(Job job, long calls, LongSupplier clock) throws IOException {
        long start = clock.getAsLong();
        for (long i = 0; i < calls; i++) {
            job.run();
        }
        return clock.getAsLong() - start;
    }

    /** Until the JIT has compiled all of it. */
    private static void warmUp(Job job) throws IOException {
        LongSupplier cpu = clock("thread_time");
        for (long left = WARM_UP_NS; left > 0;) {
            left -= time(job, 1, cpu);
        }
    }
}
