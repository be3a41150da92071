package org.sparkzorder.scan

import scala.collection.mutable

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.{FileNames, Record, RecordFile, RecordState, TableFolder}
import org.sparkzorder.compat._
import org.sparkzorder.table.RelativePath

/**
 * What an operation changed in the table's folders, by relative names.
 *
 * @param there files that came
 * @param gone files that went
 * @param isNew whether the files that came had never been there before. Then a listing that shows them ended after they
 *   came
 * @param begun before the first file came, in milliseconds since 1970
 */
private[scan] final case class Traces(there: Seq[String], gone: Seq[String], isNew: Boolean, begun: Long)

/**
 * An operation of the history: all files were in place by its end, in milliseconds since 1970. Its record is read late.
 */
private[scan] final class PastOperation(val endTime: Long, val traces: () => Traces)

private[scan] object PastOperation {

  def of(file: RecordFile, record: RecordFile => Record): PastOperation =
    new PastOperation(endTime(file), () => traces(file, record(file)))

  /** The record's file is of the commit point if its name says how long files were exchanged. Else it is of the end. */
  private def endTime(file: RecordFile): Long = file.meta.modificationTime + file.publishMillis.getOrElse(0L)

  private def traces(file: RecordFile, record: Record): Traces = {
    val (outputs, inputs) = (record.outputs.map(_.path), record.inputs.map(_.path))
    // A store writes the record anew at the end of an operation, and at its VACUUM.
    val lasted = file.publishMillis.orElse(record.metrics.get(Record.PublishMillis).flatMap(_.toLongOption))
    val begun = math.min(record.timestamp, file.meta.modificationTime - lasted.getOrElse(0L))
    // A listing made during an operation that was undone later may show outputs and lack inputs.
    file.state match {
      case RecordState.Undone => Traces(inputs, outputs, isNew = false, begun)
      case _                  => Traces(outputs, inputs, record.outputs.forall(_.source.isEmpty), begun)
    }
  }
}

/** Tells whether a listing was made before or during an operation. */
private[scan] object ListingAge {

  /** A listing takes no longer than this, in milliseconds, less what two clocks differ by. */
  val LongestListing: Long = 10L * 60 * 1000

  /**
   * Goes back from the newest operation until one says how old the listing is. Operations run one after the other, so a
   * listing that shows the new files of one also shows those of all operations that had ended when it began. If a file
   * came and went several times, only the last time counts.
   *
   * A listing that Spark has put together of listings of partitions has no one age. So each operation is looked at.
   *
   * @param listed names of the files in the listing
   * @param operations newest first
   * @param isAll whether these are all operations since the listing was checked last
   * @param isOne whether all folders were listed at one time
   * @return None if no operation says how old the listing is
   */
  def isStale(
      listed: Set[String],
      operations: Iterator[PastOperation],
      isAll: Boolean = true,
      isOne: Boolean = true
  ): Option[Boolean] = {
    // A listing may cover only some folders.
    val folders = listed.map(FileNames.parent)
    val decided = mutable.HashSet.empty[String]
    var begun = Option.empty[Long]
    while (operations.hasNext) {
      val next = operations.next()
      // Its record is not read.
      if (begun.exists(_ > next.endTime)) return Some(false)
      val operation = next.traces()
      val gone = operation.gone.filterNot(decided)
      val there = operation.there.filterNot(decided)
      val reached = there.filter(f => folders.contains(FileNames.parent(f)))
      if (gone.exists(listed) || !reached.forall(listed)) return Some(true)
      if (isOne && operation.isNew && reached.nonEmpty && begun.isEmpty) begun = Some(operation.begun - LongestListing)
      decided ++= gone ++= there
    }
    // An operation that is not among these may have ended since the listing began.
    begun.filter(_ => isAll).map(_ => false)
  }
}

/**
 * Translates between paths of a listing and the names in a table's records.
 *
 * @param links folders that the query reads by another path than the table's, with their names in the records: `/link`
 *   with `p=1` if `/link` leads to `/x/p=1` and the table is `/x`
 */
private[scan] final class RecordedNames(folder: TableFolder, links: Seq[(RelativePath, String)]) {
  private val plain = new RelativePath(folder.root)

  /** Names of those files that are in the table's folders. */
  def of(files: Seq[Path]): Set[String] = files.iterator.flatMap(file => of(file)).toSet

  private def of(file: Path): Option[String] =
    if (plain.isBelow(file)) Some(plain.of(file))
    else links.collectFirst { case (link, inner) if link.isBelow(file) => s"$inner/${link.of(file)}" }

  /** All paths by which a listing may show the file. */
  def paths(name: String): Seq[Path] = folder.resolve(name) +: links.collect {
    case (link, inner) if name.startsWith(s"$inner/") => link.resolve(name.substring(inner.length + 1))
  }
}

private[scan] object RecordedNames {

  /** Names of a folder, whose records are looked at, in a query of these tables. */
  def of(folder: TableFolder, tables: Seq[TableFolder]): RecordedNames = {
    val others = tables.filter { t =>
      t.root != folder.root && folder.relative(t.root).isEmpty && t.relative(folder.root).isEmpty
    }
    lazy val real = folder.copy(root = folder.ops.realPath(folder.root))
    new RecordedNames(
      folder,
      others.flatMap(t => real.relative(t.ops.realPath(t.root)).map(inner => new RelativePath(t.root) -> inner))
    )
  }
}
