import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** HDFS in one process, below a directory: prints the port of its name node, and ends with its input. */
public class Cluster {
    public static void main(String[] arguments) throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, arguments[0]);
        try (MiniDFSCluster cluster = new MiniDFSCluster.Builder(configuration).numDataNodes(1).build()) {
            cluster.waitActive();
            System.out.println("name node: " + cluster.getNameNodePort());
            while (System.in.read() >= 0) {
                continue;
            }
        }
    }
}
