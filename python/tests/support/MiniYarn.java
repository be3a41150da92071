import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * HDFS with one data node and YARN with two node managers, in this process. It writes the configuration of a client into the
 * folder that it is given, and ends with its input.
 */
public class MiniYarn {
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    Configuration conf = new YarnConfiguration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, folder.resolveSibling("dfs").toString());
    conf.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 128);
    conf.set("yarn.scheduler.capacity.root.queues", "default");
    conf.set("yarn.scheduler.capacity.root.default.capacity", "100");
    conf.set("yarn.scheduler.capacity.maximum-am-resource-percent", "1.0");
    conf.setBoolean(YarnConfiguration.NM_VMEM_CHECK_ENABLED, false);
    conf.setBoolean(YarnConfiguration.NM_PMEM_CHECK_ENABLED, false);
    // Node managers do not work on a disk that is nearly full.
    conf.set(YarnConfiguration.NM_MAX_PER_DISK_UTILIZATION_PERCENTAGE, "100");
    MiniDFSCluster dfs = new MiniDFSCluster.Builder(conf).numDataNodes(1).build();
    MiniYARNCluster yarn = new MiniYARNCluster("yarn", 2, 1, 1);
    yarn.init(dfs.getConfiguration(0));
    yarn.start();
    yarn.waitForNodeManagersToConnect(60000);

    Configuration client = new Configuration(false);
    for (String name :
        List.of("fs.defaultFS", YarnConfiguration.RM_ADDRESS, YarnConfiguration.RM_SCHEDULER_ADDRESS)) {
      client.set(name, yarn.getConfig().get(name));
    }
    for (String file : List.of("core-site.xml", "yarn-site.xml")) {
      Path unfinished = folder.resolveSibling(file);
      try (OutputStream out = Files.newOutputStream(unfinished)) {
        client.writeXml(out);
      }
      Files.move(unfinished, folder.resolve(file));
    }
    while (System.in.read() >= 0) {}
    yarn.stop();
    dfs.shutdown();
  }
}
