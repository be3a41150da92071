import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.crypto.key.KeyProvider;
import org.apache.hadoop.crypto.key.KeyProviderFactory;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.client.CreateEncryptionZoneFlag;
import org.apache.hadoop.hdfs.client.HdfsAdmin;

/**
 * HDFS with two data nodes and permissions, in this process. /open is for everybody, /zone is an encryption zone for everybody,
 * and both allow snapshots. It writes the configuration of a client into the folder that it is given, and ends with its input.
 */
public class MiniHdfs {
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    String keys = "jceks://file" + folder.resolveSibling("keys.jceks");
    Configuration conf = new Configuration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, folder.resolveSibling("dfs").toString());
    conf.set("hadoop.security.key.provider.path", keys);
    conf.setBoolean(DFSConfigKeys.DFS_PERMISSIONS_ENABLED_KEY, true);
    conf.setBoolean("dfs.namenode.acls.enabled", true);
    KeyProvider provider = KeyProviderFactory.getProviders(conf).get(0);
    provider.createKey("key", KeyProvider.options(conf).setBitLength(128));
    provider.flush();
    MiniDFSCluster dfs = new MiniDFSCluster.Builder(conf).numDataNodes(2).build();
    dfs.waitActive();
    DistributedFileSystem fs = dfs.getFileSystem();
    HdfsAdmin admin = new HdfsAdmin(fs.getUri(), dfs.getConfiguration(0));
    fs.getClient().setKeyProvider(dfs.getNameNode().getNamesystem().getProvider());
    for (String name : List.of("/open", "/zone")) {
      org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(name);
      fs.mkdirs(path);
      fs.setPermission(path, new FsPermission((short) 0777));
      fs.allowSnapshot(path);
    }
    admin.createEncryptionZone(
        new org.apache.hadoop.fs.Path("/zone"), "key", EnumSet.of(CreateEncryptionZoneFlag.NO_TRASH));

    Configuration client = new Configuration(false);
    client.set("fs.defaultFS", fs.getUri().toString());
    client.set("dfs.replication", "2");
    client.set("hadoop.security.key.provider.path", keys);
    Path unfinished = folder.resolveSibling("core-site.xml");
    try (OutputStream out = Files.newOutputStream(unfinished)) {
      client.writeXml(out);
    }
    Files.move(unfinished, folder.resolve("core-site.xml"));
    while (System.in.read() >= 0) {}
    dfs.shutdown();
  }
}
