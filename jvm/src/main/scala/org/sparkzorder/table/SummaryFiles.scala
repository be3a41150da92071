package org.sparkzorder.table

import java.util.concurrent.{Callable, ExecutionException, Executors}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/**
 * Parquet's summary file `_metadata` (of dask, fastparquet and old versions of Spark). It lists all
 * data files, and its readers look nowhere else. `_common_metadata` has only a schema, so it does
 * no harm.
 */
object SummaryFiles {

  private val Threads = 16
  private val name = "_metadata"

  /** The first such file in the table's folder, in a table above it, or in one of these folders. */
  def first(conf: Configuration, root: Path, folders: Seq[Path]): Option[Path] = {
    val files = (ForeignFormats.withTablesAbove(root) ++ folders).distinct.map(new Path(_, name))
    val pool = Executors.newFixedThreadPool(math.min(Threads, files.size))
    try
      pool.invokeAll(files.map(f => (() => isFile(f, conf)): Callable[Boolean]).asJava).asScala.toSeq.map(_.get())
        .zip(files).collectFirst { case (true, file) => file }
    catch { case e: ExecutionException => throw e.getCause }
    finally pool.shutdownNow()
  }

  private def isFile(file: Path, conf: Configuration): Boolean =
    PathKinds.isFile(file.getFileSystem(conf), file)
}
