package org.sparkzorder.commit.log

import java.io.{FileNotFoundException, IOException}

import org.slf4j.LoggerFactory

import org.sparkzorder.codec.Json
import org.sparkzorder.commit.{Record, TableFolder}

/**
 * Why an operation did not end in the usual way: it was undone, or another process finished it after its owner died.
 *
 * @param reason one sentence for `DESCRIBE HISTORY`
 * @param by the process that finished or undid it for a dead owner; None when the owner did it
 */
final case class Outcome(reason: String, by: Option[String])

/** Outcomes are small files beside the records. They are for people only: no decision depends on them. */
object Outcome {
  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  private val MostBytes = 1L << 20
  private val MostCharacters = 4000

  /**
   * Writes a note; the last one counts. It is called once the end of the operation is decided. It
   * never fails, because without the note only the reason is missing.
   */
  def note(folder: TableFolder, record: Record, reason: String, by: Option[String] = None): Unit = {
    val path = folder.outcome(record)
    try {
      folder.ops.delete(path)
      folder.ops.writeNew(path, write(Outcome(reason, by)))
    } catch { case e: IOException => log.warn(s"cannot note in $path: $reason", e) }
  }

  /**
   * None when there is no note, or a damaged one.
   *
   * @throws java.io.IOException when it cannot be read
   */
  private[commit] def read(folder: TableFolder, record: Record): Option[Outcome] =
    try parse(folder.ops.read(folder.outcome(record), MostBytes))
    catch { case _: FileNotFoundException => None }

  /** The same for showing it. A note that cannot be read is left out. */
  private[commit] def shown(folder: TableFolder, record: Record): Option[Outcome] =
    try read(folder, record)
    catch {
      case e: IOException =>
        log.warn(s"cannot read ${folder.outcome(record)}: ${e.getMessage}")
        None
    }

  private[commit] def write(outcome: Outcome): Array[Byte] =
    Json.write(Outcome(outcome.reason.take(MostCharacters), outcome.by.map(_.take(MostCharacters))))

  private[commit] def parse(bytes: Array[Byte]): Option[Outcome] = Json.parse(bytes, classOf[Outcome])
}
