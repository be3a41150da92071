package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable

/**
 * The records that tell how the table's files were written, thinned: without inputs, and only with
 * the outputs that no later operation retired. So they name as many files as the table has, however
 * many operations there were. The newest record with a layout is always among them. A checkpoint
 * has them in its first section.
 */
private[commit] object WrittenFiles {
  private type Key = (String, Long, Long)

  /**
   * Whether the operation brings back retired files. Only the full older records tell how these
   * were written.
   */
  def hasReturned(record: Record): Boolean = record.outputs.exists(_.source.isDefined)

  /**
   * @param gathered records that come into the checkpoint, newest first. They must not bring back
   *                 files that `before` lacks
   * @param before the thinned records of the earlier checkpoint, newest first
   * @param forgotten versions that are left out
   * @return newest first
   */
  def of(
      gathered: Iterator[CheckpointLine],
      before: Iterator[CheckpointLine],
      forgotten: Set[Long]
  ): Seq[CheckpointLine] = {
    // Whether the newest record that names a file has left it in the table.
    val isThere = mutable.HashMap.empty[Key, Boolean]
    val kept = Vector.newBuilder[CheckpointLine]
    var hasLayout = false
    def add(line: CheckpointLine, record: Record): Unit = {
      val outputs = record.outputs.filter { o =>
        val stays = isThere.getOrElseUpdate((o.path, o.length, o.modificationTime), true)
        // RESTORE may have brought it back by another name. An older record wrote it by its earlier
        // name.
        if (o.pathBefore != o.path) isThere.getOrElseUpdate((o.pathBefore, o.length, o.modificationTime), stays)
        stays
      }
      record.inputs.foreach(i => isThere.getOrElseUpdate((i.path, i.length, i.modificationTime), false))
      val isNewest = !hasLayout && record.layout.isDefined
      // An operation that was published through the catalog has its files in other folders, which no later one
      // retires one by one.
      if ((outputs.nonEmpty || record.switches.nonEmpty || isNewest) && !forgotten(line.file.version)) {
        hasLayout ||= isNewest
        val thinned = record.copy(inputs = Nil, outputs = outputs, metrics = Map.empty)
        kept += CheckpointLine(line.file, None, new String(RecordJson.write(thinned), UTF_8))
      }
    }
    gathered.foreach(line => add(line, line.record))
    before.foreach(line => add(line, line.thinned))
    kept.result()
  }
}
