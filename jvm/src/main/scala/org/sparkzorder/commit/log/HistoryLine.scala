package org.sparkzorder.commit.log

import org.sparkzorder.commit.{Record, RecordFile}

/**
 * An operation whose retired files are gone, as the history keeps it.
 *
 * @param record without the names of files
 * @param publishMillis how long files were being exchanged, if it is known
 * @param time the modification time that the file of its record had
 */
private[commit] final case class HistoryLine(
    record: Record,
    publishMillis: Option[Long],
    time: Long,
    outcome: Option[Outcome]
) {
  def version: Long = record.version
}

private[commit] object HistoryLine {

  def of(file: RecordFile, record: Record, outcome: Option[Outcome]): HistoryLine = HistoryLine(
    record.copy(
      inputs = Nil,
      outputs = Nil,
      locationChanges = record.locationChanges.map(_.copy(inputs = Nil, outputs = Nil, lost = Nil)),
      lost = Nil
    ),
    file.publishMillis,
    file.meta.modificationTime,
    outcome
  )
}
