package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable

/**
 * How the files were written that are in the table by all that its records say.
 *
 * A checkpoint has these records thinned: without inputs, and with those outputs only that no later operation retired. Their
 * number is that of the table's files, however many operations there were. The newest record with a layout is always among them.
 */
private[commit] object WrittenFiles {
  private type Key = (String, Long, Long)

  /** Whether it brings files back that the records before it have retired: how they were written, only these tell in full. */
  def hasReturned(record: Record): Boolean = record.outputs.exists(_.source.isDefined)

  /**
   * @param gathered records that come into the checkpoint, newest first. None of them [[hasReturned]] files that `before` lacks
   * @param before those of the earlier checkpoint that still counted, newest first
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
        // RESTORE may have brought it back by another name. Then an older record wrote it by the name of before.
        if (o.pathBefore != o.path) isThere.getOrElseUpdate((o.pathBefore, o.length, o.modificationTime), stays)
        stays
      }
      record.inputs.foreach(i => isThere.getOrElseUpdate((i.path, i.length, i.modificationTime), false))
      val isNewest = !hasLayout && record.layout.isDefined
      if ((outputs.nonEmpty || isNewest) && !forgotten(line.file.version)) {
        hasLayout ||= isNewest
        val thinned = record.copy(inputs = Nil, outputs = outputs, metrics = Map.empty, bystanders = Map.empty)
        kept += CheckpointLine(line.file, None, new String(RecordJson.write(thinned), UTF_8))
      }
    }
    gathered.foreach(line => add(line, line.record))
    before.foreach(line => add(line, line.thinned))
    kept.result()
  }
}
