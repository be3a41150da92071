package org.sparkzorder.commit.log

import java.io.FileNotFoundException

import com.fasterxml.jackson.core.JsonProcessingException
import org.slf4j.LoggerFactory

import org.sparkzorder.codec.Json
import org.sparkzorder.commit.{FileMeta, Record, TableFolder}
import org.sparkzorder.commit.storage.AtomicFile

/**
 * The folders in which an operation makes staging, written before it makes any. It shows a recovery which staging a
 * dead operation may have left, and that this staging is the table's. It is deleted after the staging.
 */
private[commit] object StagingDirectories {
  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.log.StagingDirectories")

  private final case class Text(operationId: String, folders: Seq[String])

  private val Name = """_staging-(.+)\.json""".r

  def operations(statuses: Seq[FileMeta]): Seq[String] = statuses.flatMap { meta =>
    meta.name match {
      case Name(id) if !meta.isDirectory => Some(id)
      case _                             => None
    }
  }

  /** @param dirs relative to the root */
  def write(folder: TableFolder, operationId: String, dirs: Seq[String]): Unit =
    AtomicFile.put(
      folder.ops,
      folder.newTemporary(),
      folder.manifest(operationId),
      Json.write(Text(operationId, dirs))
    )(())

  /** Its folders; none when there is no manifest. If it cannot be read, that is logged. */
  def read(folder: TableFolder, operationId: String): Seq[String] = {
    val path = folder.manifest(operationId)
    try {
      val dirs = Json.read(folder.ops.read(path, RecordJson.ReadLimit), classOf[Text]).folders
      dirs.filter(dir => dir.isEmpty || Record.isDataName(dir))
    } catch {
      case _: FileNotFoundException   => Nil
      case e: JsonProcessingException =>
        log.warn(s"$path cannot be read, staging of this operation may be left: ${e.getOriginalMessage}")
        Nil
    }
  }
}
