package org.sparkzorder.commit.catalog

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit._
import org.sparkzorder.compat._

/**
 * How a partition goes back to an earlier folder.
 *
 * @param there the files of that folder whose rows count
 * @param brought files of other folders that are copied to it, since others appended them later
 * @param left the files of the folder that it leaves
 * @param lost files that others have deleted. Their rows are in the folder that it gets
 */
final case class WayBack(
    partition: CatalogPartition,
    from: Path,
    to: Path,
    there: Seq[FileMeta],
    brought: Seq[FileMeta],
    left: Seq[FileMeta],
    lost: Seq[InputFile]
)

/** Plans a RESTORE of a table that moves to new folders. Pure but for listings. */
private[sparkzorder] object CatalogRestore {
  import NotRestorableException.refuse
  import RestoreObstacle._

  /** Walks back from the folder that a partition has now. `rows` are the files that have its rows, by path. */
  private final class Walk(version: Long, history: LocationHistory, ops: FileOps, start: Path) {
    private var at = start

    // What others change from now on is found by the last look at these files.
    private val all = visible(start)
    private var rows: Map[String, FileMeta] = keyed(all)
    private var lost = Seq.empty[InputFile]

    private def keyed(files: Seq[FileMeta]) = files.map(m => m.path.toString -> m).toMap

    private def visible(dir: Path): Seq[FileMeta] = ops.list(dir).filter(StaleAppends.isVisible)

    def back(switch: LocationChange): Unit = {
      if (switch.to != at.toString) refuse(version, Changed, Seq(s"$at is not where version ${version + 1} was"))
      val (changed, gone) = switch.outputs.filterNot(o => rows.get(o.path).exists(o.isThis(_, timed = true)))
        .partition(o => rows.contains(o.path) || ops.exists(new Path(o.path)))
      // Others have deleted these, and changed those.
      if (changed.nonEmpty) refuse(version, Changed, (changed ++ gone).map(_.path))
      lost ++= gone.map(_.asInput)
      gone.map(_.modificationTime).minOption.foreach { since =>
        val own = switch.outputs.map(_.path).toSet
        val others = rows.values.filter(m => m.path.getParent == at && !own(m.path.toString))
        val young = others.filter(m => m.modificationTime >= since && !ForwardCopyName.isOne(m.name))
        refuse(version, Beside, young.map(_.path.toString).toSeq.sorted)
      }
      val from = new Path(switch.from)
      rows = rows -- switch.outputs.map(_.path) ++ (switch.inputs ++ switch.lost).map { i =>
        i.path -> FileMeta(new Path(i.path), i.length, i.modificationTime, isDirectory = false, i.etag)
      }
      at = from
    }

    def isThere: Boolean = at == start

    def ended(partition: CatalogPartition): WayBack = {
      val folders = rows.values.map(_.path.getParent).toVector.distinct
      val now = keyed(folders.flatMap(visible))
      val gone = rows.filterNot { case (path, m) => now.get(path).exists(InputFile.of(m).isSame) }.keys.toVector.sorted
      refuse(version, Gone, gone)
      val (there, elsewhere) = rows.keys.toVector.sorted.map(now).partition(_.path.getParent == at)
      // Of a stale append that was copied forward, the original may be in the folder itself.
      val originals = visible(at).map(m => ForwardCopyName.key(m) -> m).toMap
      val (back, brought) = elsewhere.partition(m => originals.contains(ForwardCopyName.key(m)))
      val rewritten = back.filter(m => originals(ForwardCopyName.key(m)).length != m.length)
      refuse(version, Changed, rewritten.map(_.path.toString))
      val kept = there ++ back.map(m => originals(ForwardCopyName.key(m)))
      // The original of a file that was copied forward, and whose copy was deleted since.
      val isReplaced = history.replacedIn(at.toString)
      val carried = FolderNotes.in(at, ops).carried
      val deleted = visible(at).filter { m =>
        !ForwardCopyName.isOne(m.name) && !kept.exists(_.path == m.path) &&
        (isReplaced(m) || carried.has(m) || carried.hasOther(m))
      }
      refuse(version, Changed, deleted.map(_.path.toString))
      WayBack(partition, start, at, kept.distinctBy(_.path), brought.distinctBy(ForwardCopyName.key), all, lost)
    }
  }

  /**
   * The ways back of all partitions that have moved since a version. Stale appends have been copied forward.
   *
   * @param records published operations after that version, newest first
   * @param restoresLost whether to go back also where others have deleted files
   * @throws NotRestorableException when files of the version are gone, or others have changed the table
   */
  def plan(version: Long, records: Seq[Record], view: CatalogView, restoresLost: Boolean): Seq[WayBack] = {
    records.find(r => r.locationChanges.isEmpty && (r.inputs.nonEmpty || r.outputs.nonEmpty)).foreach { r =>
      refuse(version, Gone, Seq(s"files of version ${r.version}, which was published in place"))
    }
    val ways = records.flatMap(_.locationChanges.map(_.partition)).distinct.flatMap { partition =>
      // A partition that was dropped does not come back.
      view.current.get(partition).flatMap { folder =>
        val walk = new Walk(version, view.history, view.ops, folder)
        records.flatMap(_.locationChanges.filter(_.partition == partition)).foreach(walk.back)
        Option.when(!walk.isThere)(walk.ended(partition))
      }
    }
    refuse(version, Changed, ways.map(_.to).filter(view.located.contains).map(_.toString))
    if (!restoresLost) refuse(version, Lost, ways.flatMap(_.lost.map(_.path)).sorted)
    ways
  }

  /** The change for a way back, once the files are in its folder. */
  def change(way: WayBack, copies: Seq[(FileMeta, FileMeta)]): LocationChange = {
    def output(m: FileMeta, source: Path) =
      OutputFile(m.path.toString, m.length, m.modificationTime, 0L, source = Some(source.toString), etag = m.etag)
    LocationChange(
      way.partition,
      way.from.toString,
      way.to.toString,
      way.left.map(InputFile.of(_)),
      way.there.map(m => output(m, m.path)) ++ copies.map { case (copy, original) => output(copy, original.path) },
      way.lost
    )
  }
}
