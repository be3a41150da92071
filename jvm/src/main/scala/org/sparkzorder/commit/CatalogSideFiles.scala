package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.fs.Path

/** The files of the side folder that tell of an operation that is published through the catalog. */
private[commit] final class CatalogSideFiles(home: TableFolder) {
  import CatalogSideFiles._

  def switch(operationId: String): Path = home.inSide(s"$SwitchPrefix$operationId.json")
  private def manifest(operationId: String): Path = home.inSide(s"$GenerationPrefix$operationId.json")

  /** Says which folder an operation makes, before it is made. */
  def writeManifest(lock: Lock, generation: Path): Unit =
    AtomicFile.put(
      home.ops,
      home.newTemporary(),
      manifest(lock.operationId),
      generation.toString.getBytes(UTF_8)
    )(lock.check())

  def writeSwitch(lock: Lock, record: Record): Unit =
    AtomicFile.put(
      home.ops,
      home.newTemporary(),
      switch(record.operationId),
      RecordJson.write(record)
    )(lock.check())

  /**
   * The folder that an operation made; None if there is no manifest. A side folder that was copied names
   * folders of the other table.
   */
  def generation(operationId: String): Option[Path] =
    home.ops.status(manifest(operationId)).map { meta =>
      new Path(new String(home.ops.read(meta.path, MostBytes), UTF_8))
    }.filter(made => VersionDirectory.generationOf(made).contains(made) && VersionDirectory.isOf(home.root, made))

  def readSwitch(operationId: String): Record =
    RecordJson.parse(home.ops.read(switch(operationId), RecordJson.ReadLimit), switch(operationId))

  /** Removes both. The manifest goes first: if it were left alone, the folder would be deleted. */
  def remove(operationId: String): Unit = {
    home.ops.delete(manifest(operationId))
    home.ops.delete(switch(operationId))
  }

  def removeManifest(operationId: String): Unit = home.ops.delete(manifest(operationId))

  def hasManifest(operationId: String): Boolean = home.ops.exists(manifest(operationId))

  def hasSwitch(operationId: String): Boolean = home.ops.exists(switch(operationId))
}

private[commit] object CatalogSideFiles {
  private val SwitchPrefix = "_switch-"
  private val GenerationPrefix = "_generation-"
  private val MostBytes = 1L << 16

  private def ids(statuses: Seq[FileMeta], prefix: String): Seq[String] =
    statuses.filterNot(_.isDirectory).map(_.name).filter(n => n.startsWith(prefix) && n.endsWith(".json"))
      .map(_.stripPrefix(prefix).stripSuffix(".json"))

  /** Operations that may have told the catalog of new folders. */
  def switches(statuses: Seq[FileMeta]): Seq[String] = ids(statuses, SwitchPrefix)

  /** Operations that have made new folders. */
  def generations(statuses: Seq[FileMeta]): Seq[String] = ids(statuses, GenerationPrefix)
}
