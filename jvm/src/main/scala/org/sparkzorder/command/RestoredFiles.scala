package org.sparkzorder.command

import java.io.IOException

import org.apache.hadoop.fs.{ChecksumException, ChecksumFileSystem, FileStatus, FileSystem, Path}
import org.apache.spark.util.SerializableConfiguration

import org.sparkzorder.commit._
import org.sparkzorder.commit.upkeep.RestorePlan
import org.sparkzorder.compat._
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.DataFormat
import org.sparkzorder.footer.files.Footers
import org.sparkzorder.table.{PlainTable, TableSideFolder}

/** Checks files in the trash before RESTORE brings them back, since afterwards it would be too late to find damage. */
private[command] object RestoredFiles {

  /**
   * Reads all footers and compares their numbers of rows with the history. If the file system keeps
   * checksums, a Spark job also reads the files in full.
   *
   * @throws NotRestorableException naming the files that are damaged
   */
  def check(table: PlainTable, plan: RestorePlan, version: Long): Unit = {
    val folder = TableSideFolder.of(table)
    val files = plan.outputs.map(o => o -> table.fileSystem.getFileStatus(folder.resolve(o.source.get)))
    refuse(version, byFooter(table, files), None)
    val (damaged, cause) = byChecksum(table, files)
    refuse(version, damaged, cause)
  }

  private def refuse(version: Long, damaged: Seq[OutputFile], cause: Option[Throwable]): Unit =
    if (damaged.nonEmpty) {
      val e = new NotRestorableException(version, RestoreObstacle.Damaged, damaged.map(_.source.get).sorted)
      cause.foreach(e.addSuppressed)
      throw e
    }

  private def byFooter(table: PlainTable, files: Seq[(OutputFile, FileStatus)]): Seq[OutputFile] = {
    val format = DataFormat.of(table.formatName).get
    val options = table.relation.options
    val footers = Footers.tryAll(table.session, files.map(_._2), format, table.dataSchema, Nil, options = options)
    files.zip(footers).flatMap { case ((output, _), footer) =>
      val isIntact = footer match {
        case Left(e) if e.isEncrypted =>
          hasKeysInPlace(table, output) || (throw ZOrderErrors.notDecrypted(e.path, e.reason))
        case Left(_)       => false
        case Right(footer) => footer.rows == output.rows
      }
      Option.unless(isIntact)(output)
    }
  }

  /** A file whose keys are beside its place in the table can be opened only there. */
  private def hasKeysInPlace(table: PlainTable, output: OutputFile): Boolean = {
    val place = table.names.resolve(output.path)
    table.fileSystem.exists(FileNames.child(place.getParent, CompanionNames.keyMaterialOf(place.getName)))
  }

  private def byChecksum(
      table: PlainTable,
      files: Seq[(OutputFile, FileStatus)]
  ): (Seq[OutputFile], Option[Throwable]) = {
    val sparkContext = table.session.sparkContext
    val shared = sparkContext.broadcast(new SerializableConfiguration(table.session.sessionState.newHadoopConf()))
    try {
      val tasks = files.indices.sortBy(i => -files(i)._2.getLen).map(i => i -> files(i)._2.getPath.toString)
      val slices = math.max(1, math.min(tasks.size, 4 * sparkContext.defaultParallelism))
      val failures = sparkContext.parallelize(tasks, slices).flatMap { case (i, path) =>
        RestoredFiles.damage(new Path(path), shared.value.value).map(i -> _)
      }.collect()
      (failures.sortBy(_._1).map(f => files(f._1)._1).toSeq, failures.headOption.map(f => new IOException(f._2)))
    } finally shared.destroy()
  }

  private val BufferBytes = 1 << 20

  /** The error of a checksum that does not match; None if all match or if there are none. */
  private def damage(path: Path, conf: org.apache.hadoop.conf.Configuration): Option[String] = {
    val fs = path.getFileSystem(conf)
    if (!hasChecksum(fs, path)) None
    else
      try {
        val in = fs.open(path)
        try {
          val buffer = new Array[Byte](BufferBytes)
          while (in.read(buffer) >= 0) {}
        } finally in.close()
        None
      } catch {
        case e: ChecksumException => Some(s"$path: ${e.getMessage}")
        // HDFS throws this if all replicas of a block are damaged.
        case e: IOException if e.getClass.getSimpleName == "BlockMissingException" => Some(s"$path: ${e.getMessage}")
      }
  }

  private val withChecksums = Set("hdfs", "viewfs", "webhdfs", "swebhdfs")

  private def hasChecksum(fs: FileSystem, path: Path): Boolean = fs match {
    case checked: ChecksumFileSystem => checked.exists(checked.getChecksumFile(path))
    case other                       => withChecksums(other.getUri.getScheme)
  }
}
