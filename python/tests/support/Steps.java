import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Supplier;

import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.sparkzorder.commit.FileMeta;
import org.sparkzorder.commit.storage.HadoopFileOps;
import scala.Option;
import scala.collection.immutable.Seq;

/**
 * The calls of a commit to a file system, in a process that stops at one of them; see `steps.py`.
 *
 * <p>The step is named by the system property `spark.zorder.test.step`, at any time, or by the environment.
 */
public final class Steps extends HadoopFileOps {
  private static String asked = "";
  private static int done = 0;

  public Steps(FileSystem fs) {
    super(fs);
  }

  /** While one call waits, no other goes on. */
  @Override
  public int threads() {
    return 1;
  }

  @Override
  public Seq<FileMeta> list(Path dir) {
    return at("list " + dir, () -> super.list(dir));
  }

  @Override
  public Option<FileMeta> status(Path path) {
    return at("status " + path, () -> super.status(path));
  }

  @Override
  public boolean exists(Path path) {
    return at("exists " + path, () -> super.exists(path));
  }

  @Override
  public void rename(Path from, Path to) {
    run("rename " + from + " " + to, () -> super.rename(from, to));
  }

  @Override
  public void writeNew(Path path, byte[] bytes) {
    run("writeNew " + path, () -> super.writeNew(path, bytes));
  }

  @Override
  public void delete(Path path) {
    run("delete " + path, () -> super.delete(path));
  }

  @Override
  public void deleteRecursive(Path dir) {
    run("deleteRecursive " + dir, () -> super.deleteRecursive(dir));
  }

  @Override
  public void mkdirsLike(Path dir, Path like) {
    run("mkdirsLike " + dir, () -> super.mkdirsLike(dir, like));
  }

  @Override
  public void adoptRights(Seq<Path> written, Seq<Path> replaced) {
    run("adoptRights", () -> super.adoptRights(written, replaced));
  }

  private static void run(String call, Runnable made) {
    at(call, () -> {
      made.run();
      return null;
    });
  }

  private static <T> T at(String call, Supplier<T> made) {
    String[] step = reached(call);
    if (step != null && step[1].equals("before")) stop(step[0]);
    T found = made.get();
    if (step != null && step[1].equals("after")) stop(step[0]);
    return found;
  }

  /** The step if this is the last of its calls, which it is once only. */
  private static synchronized String[] reached(String call) {
    String named = System.getProperty("spark.zorder.test.step", System.getenv("SPARK_ZORDER_STEP"));
    if (named == null || named.isEmpty()) return null;
    String[] step = named.split("\n");
    if (!named.equals(asked)) {
      asked = named;
      done = 2;
    }
    if (done == step.length || !call.matches(step[done])) return null;
    done += 1;
    return done == step.length ? step : null;
  }

  private static void stop(String gate) {
    if (gate.isEmpty()) Runtime.getRuntime().halt(137);
    try {
      new File(gate + ".reached").createNewFile();
      while (!new File(gate).exists()) Thread.sleep(10);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
