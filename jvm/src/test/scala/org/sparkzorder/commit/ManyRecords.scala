package org.sparkzorder.commit

import java.nio.file.{Files, Path => LocalPath}
import java.nio.file.attribute.FileTime

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}

/**
 * Gives a table that was optimized once a long history. Its one record becomes that of the last
 * version. The records before it are made up, two minutes apart, with inputs and outputs that never
 * existed.
 */
object ManyRecords {

  /**
   * With this distance, 20,000 operations are younger than 30 days, after which history may be
   * forgotten.
   */
  private val StepMillis = 120000L

  /**
   * @param table a local folder
   * @param operations how many operations the history then has
   */
  def make(table: LocalPath, operations: Int, filesEach: Int = 10): Unit = {
    val folder = TableFolder(
      new Path(table.toUri),
      new HadoopFileOps(FileSystem.getLocal(new Configuration()))
    )
    val side = table.resolve(SideNames.Side)
    val only = SideListing.records(folder.ops.list(folder.side)).find(_.state.isPublished).get
    val last = RecordJson.read(folder, only)
    Files.delete(side.resolve(only.meta.name))
    val end = only.meta.modificationTime
    var files = names(0, filesEach)
    for (version <- 1 until operations) {
      val next = names(version, filesEach)
      val time = end - (operations - version) * StepMillis
      val record = last.copy(
        version = version.toLong,
        operationId = f"00000000-0000-4000-8000-$version%012d",
        timestamp = time,
        inputs = files.map(n => InputFile(n, 1000000L, time - StepMillis, 1000L)),
        outputs = next.map(n => OutputFile(n, 1000000L, time, 1000L))
      )
      write(side, folder.published(record, 12).getName, record, time)
      files = next
    }
    write(
      side,
      folder.published(last.copy(version = operations.toLong), 12).getName,
      last.copy(version = operations.toLong),
      end
    )
  }

  private def names(version: Int, files: Int): Seq[String] = {
    val random = new scala.util.Random(version)
    (0 until files).map { i =>
      val id = java.util.UUID.nameUUIDFromBytes(Array.fill(16)(random.nextInt().toByte))
      f"part-$i%05d-$id-c000.snappy.parquet"
    }
  }

  private def write(side: LocalPath, name: String, record: Record, time: Long): Unit = {
    val path = Files.write(side.resolve(name), RecordJson.write(record))
    Files.setLastModifiedTime(path, FileTime.fromMillis(time))
    ()
  }
}
