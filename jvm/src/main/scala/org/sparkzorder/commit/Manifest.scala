package org.sparkzorder.commit

import java.io.FileNotFoundException

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.ObjectMapper
import org.slf4j.LoggerFactory

/**
 * The folders in which an operation makes staging, written before it makes any. By it a recovery knows what a dead
 * operation may have left, and that it is this table's. It goes when all of them are gone.
 */
private[commit] object Manifest {
  private val mapper = new ObjectMapper()
  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.Manifest")

  private val Name = """staging-(.+)\.json""".r

  def name(operationId: String): String = s"staging-$operationId.json"

  /** Those of a listing of a side folder. */
  def operations(statuses: Seq[FileMeta]): Seq[String] = statuses.flatMap { meta =>
    meta.name match {
      case Name(id) if !meta.isDirectory => Some(id)
      case _                             => None
    }
  }

  /** @param dirs relative to the root */
  def write(folder: TableFolder, operationId: String, dirs: Seq[String]): Unit = {
    val root = mapper.createObjectNode()
    root.put("operationId", operationId)
    val folders = root.putArray("folders")
    dirs.foreach(folders.add)
    val bytes = mapper.writeValueAsBytes(root)
    WholeFile.put(folder.ops, folder.newTemporary(), folder.manifest(operationId), bytes)(())
  }

  /** The folders; none when there is no manifest, or one that cannot be read, which is logged. */
  def read(folder: TableFolder, operationId: String): Seq[String] =
    try {
      val root = mapper.readTree(folder.ops.read(folder.manifest(operationId), RecordJson.ReadLimit))
      Option(root.get("folders")).toSeq.flatMap(_.elements.asScala).filter(_.isTextual).map(_.textValue)
        .filter(dir => dir.isEmpty || Record.isDataName(dir))
    } catch {
      case _: FileNotFoundException   => Nil
      case e: JsonProcessingException =>
        log.warn(
          s"${folder.manifest(operationId)} cannot be read, staging of this operation may be left: ${e.getOriginalMessage}"
        )
        Nil
    }
}
