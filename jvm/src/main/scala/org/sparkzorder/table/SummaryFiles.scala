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

  /** One listing of an object store has so many objects. */
  private val PageOfListing = 1000

  /**
   * The first such file in the table's folder, in a table above it, or in one of these folders.
   *
   * @param count the number of files of the table
   */
  def first(conf: Configuration, root: Path, folders: Seq[Path], count: Long): Option[Path] = {
    val files = (ForeignFormats.withTablesAbove(root) ++ folders).distinct.map(new Path(_, name))
    // On an object store, one listing of the whole table takes the place of a look into each folder.
    val below = Option.when(count < PageOfListing / 2 * (folders.size - 1))(root)
      .flatMap(r => PathKinds.filesBelow(r.getFileSystem(conf), r))
    val (listed, others) = files.partition(f => below.isDefined && isBelow(f, root))
    listed.find(f => below.get(f.toUri.getPath)).orElse(firstOf(conf, others))
  }

  private def isBelow(file: Path, root: Path): Boolean =
    Iterator.iterate(file.getParent)(_.getParent).takeWhile(_ != null).contains(root)

  private def firstOf(conf: Configuration, files: Seq[Path]): Option[Path] = if (files.isEmpty) None
  else {
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
