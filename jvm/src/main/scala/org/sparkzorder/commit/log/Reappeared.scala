package org.sparkzorder.commit.log

import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable

import org.sparkzorder.commit.Record
import org.sparkzorder.compat._

/**
 * A file of the table whose name an operation retired, and that no later operation brought back.
 *
 * @param path relative to the root
 * @param version that retired the name
 */
final case class Reappeared(path: String, version: Long)

/**
 * Notices files that may have been rewritten in place from an old read: a program read a file, OPTIMIZE
 * moved its rows into other files, and then the program wrote its result under the old name. Then the
 * rows are in the table twice, and nothing can prevent that. Or a writer took a name that was free.
 */
object Reappeared {

  /** How many such files were noticed in this process; the same file counts once for each listing. */
  val noticed = new AtomicLong

  /**
   * The files of a listing that have a retired name. The newest record that names a file decides:
   * it wrote the file or retired it. So the newest records are read first, until all files are
   * decided, and no more than [[HistorySettings.Whole]] of them: the cost of a query is bounded.
   *
   * A file is not reported when no file that the operation or a later one wrote is in its folder
   * any more. Then the folder was overwritten, and no row is there twice.
   *
   * @param state of the table, looked at before the listing was made
   * @param files names relative to the root
   * @throws UnreadableRecordException when a record is damaged
   * @throws java.io.IOException when one cannot be read
   */
  def find(state: TableState.SideFolder, files: Iterable[String]): Seq[Reappeared] = {
    val listed = files.toSet
    val search = new Search(listed)
    state.done.iterator.take(HistorySettings.Whole).takeWhile(_ => search.undecided.nonEmpty)
      .foreach(file => search.see(state.record(file)))
    val found = search.found.toVector.sortBy(r => (r.version, r.path))
    noticed.addAndGet(found.size.toLong)
    found
  }

  private final class Search(listed: Set[String]) {
    val found = mutable.Buffer.empty[Reappeared]
    val undecided: mutable.Set[String] = mutable.HashSet.from(listed)
    private val mentioned = mutable.HashSet.empty[String]

    /** Folders that still have files that these operations wrote. */
    private val folders = mutable.HashSet.empty[String]

    /** Takes the next older record into account. The newest record that has a name decides about it. */
    def see(record: Record): Unit = {
      record.outputs.foreach { output =>
        if (listed(output.path) && mentioned.add(output.path)) folders += output.folder
        undecided -= output.path
        // RESTORE brought it back, perhaps by another name. So the old name is not retired any more.
        undecided -= output.pathBefore
      }
      (record.inputs ++ record.lost).foreach { input =>
        if (listed(input.path)) mentioned += input.path
        if (undecided.remove(input.path) && folders(input.folder)) found += Reappeared(input.path, record.version)
      }
    }
  }

  private val MostNamed = 5

  def describe(found: Seq[Reappeared]): String = {
    val names = found.take(MostNamed).map(r => s"`${r.path}` (retired by version ${r.version})").mkString(", ")
    val more = if (found.size > MostNamed) s" and ${found.size - MostNamed} more" else ""
    val versions = found.map(_.version).distinct.sorted.take(MostNamed).mkString(", ")
    s"Files are back under names that an earlier operation retired: $names$more. Either a program wrote back what " +
      "it had read before, and their rows are in the table twice, or a writer used a free name again, as Hive does. " +
      s"Compare them with the files of version $versions, and delete only rows that are double; RESTORE does not help"
  }
}
