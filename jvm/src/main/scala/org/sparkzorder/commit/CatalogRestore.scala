package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

/**
 * How a slot goes back to an earlier folder.
 *
 * @param there the files of that folder whose rows count
 * @param brought files of other folders that are copied to it, since others appended them later
 * @param left the files that have the slot's rows now: those of the folder that it leaves, and late ones
 */
final case class WayBack(
    slot: CatalogPartition,
    from: Path,
    to: Path,
    there: Seq[FileMeta],
    brought: Seq[FileMeta],
    left: Seq[FileMeta]
)

/** Plans a RESTORE of a table that is published through the catalog. Pure but for listings. */
private[sparkzorder] object CatalogRestore {

  /** Walks back from one slot's current folder. `rows` are the files that have its rows, by path. */
  private final class Walk(
      version: Long,
      state: CatalogState,
      list: Path => Seq[FileMeta],
      start: Path,
      late: Seq[StaleAppend]
  ) {
    private var at = start

    // What others change from now on is found by the last look at these files.
    private val begun = visible(start)
    private val all = begun ++ late.map(_.meta)
    private var rows: Map[String, FileMeta] = keyed(all)

    private def keyed(files: Seq[FileMeta]) = files.map(m => m.path.toString -> m).toMap

    private def visible(dir: Path): Seq[FileMeta] = list(dir).filter(StaleAppends.isVisible)

    /** Takes back one operation. */
    def back(switch: LocationChange): Unit = {
      if (switch.to != at.toString)
        throw new NotRestorableException(
          version,
          RestoreObstacle.Changed,
          Seq(s"$at is not where version ${version + 1} was")
        )
      val changed = switch.outputs.filterNot(o => rows.get(o.path).exists(o.isThis(_, timed = true)))
      if (changed.nonEmpty) throw new NotRestorableException(version, RestoreObstacle.Changed, changed.map(_.path))
      val from = new Path(switch.from)
      rows = rows -- switch.outputs.map(_.path) ++ switch.inputs.map { i =>
        i.path -> FileMeta(new Path(i.path), i.length, i.modificationTime, isDirectory = false, i.etag)
      }
      at = from
    }

    def ended(slot: CatalogPartition): WayBack = {
      val folders = rows.values.map(_.path.getParent).toSeq.distinct
      val now = keyed(folders.flatMap(visible))
      val gone = rows.filterNot { case (path, m) => now.get(path).exists(KnownFile.of(m).is) }.keys.toSeq.sorted
      if (gone.nonEmpty) throw new NotRestorableException(version, RestoreObstacle.Gone, gone)
      val (there, elsewhere) = rows.keys.toSeq.sorted.map(now).partition(_.path.getParent == at)
      // Of a late file that was brought over, the original may be in the folder itself.
      val originals = visible(at).map(m => CarriedName.of(m) -> m).toMap
      val (back, brought) = elsewhere.partition(m => originals.contains(CarriedName.of(m)))
      val kept = there ++ back.map(m => originals(CarriedName.of(m)))
      // The original of a file that was brought over, and whose copy was deleted since.
      val watches = state.folders.flatMap(_.watches).filter(w => w.folder == at.toString && !w.newer)
      val had = state.rowsIn(start)
      val deleted = visible(at).filter { m =>
        (watches.exists(_.knows(m)) || had(m)) &&
        !CarriedName.isOne(m.name) && !kept.exists(_.path == m.path)
      }
      if (deleted.nonEmpty)
        throw new NotRestorableException(version, RestoreObstacle.Changed, deleted.map(_.path.toString))
      WayBack(slot, start, at, kept.distinctBy(_.path), brought.distinctBy(CarriedName.of), all)
    }
  }

  /**
   * The ways back of all slots that have moved since a version.
   *
   * @param records published operations after that version, newest first
   * @param state which files of which folders are known
   * @param current where the catalog says that the slots are
   * @param late the late files of each current folder
   * @throws NotRestorableException when files of the version are gone, or others have changed the table
   */
  def plan(
      version: Long,
      records: Seq[Record],
      state: CatalogState,
      current: Map[CatalogPartition, Path],
      list: Path => Seq[FileMeta],
      late: Path => Seq[StaleAppend]
  ): Seq[WayBack] = {
    records.find(r => r.switches.isEmpty && (r.inputs.nonEmpty || r.outputs.nonEmpty)).foreach { r =>
      throw new NotRestorableException(
        version,
        RestoreObstacle.Gone,
        Seq(s"files of version ${r.version}, which was published by renames")
      )
    }
    val slots = records.flatMap(_.switches.map(_.slot)).distinct
    slots.flatMap { slot =>
      // A partition that was dropped does not come back.
      current.get(slot).map { folder =>
        val walk = new Walk(version, state, list, folder, late(folder))
        records.flatMap(_.switches.filter(_.slot == slot)).foreach(walk.back)
        walk.ended(slot)
      }
    }.filter(way => way.from != way.to)
  }

  /**
   * Says in the state that the folders which the slots leave have the rows of the copies that will be
   * made. So the copies are no late files, whatever happens to us.
   */
  def expect(home: TableFolder, lock: Lock, ways: Seq[WayBack]): Unit = {
    val state = CatalogStateFile.read(home)
    val having = for {
      way <- ways if way.brought.nonEmpty
      folder <- state.folder(way.from)
    } yield folder.having(way.brought.map(CarriedName.of))
    if (having.nonEmpty) CatalogStateFile.write(home, lock, state.updated(having))
  }

  /** The switch for a way back, once the files are in its folder. */
  def switch(way: WayBack, copies: Seq[(FileMeta, FileMeta)]): LocationChange = {
    def output(m: FileMeta, source: Path) =
      OutputFile(m.path.toString, m.length, m.modificationTime, 0L, source = Some(source.toString), etag = m.etag)
    LocationChange(
      way.slot,
      way.from.toString,
      way.to.toString,
      way.left.map(m => InputFile(m.path.toString, m.length, m.modificationTime, 0L, m.etag)),
      way.there.map(m => output(m, m.path)) ++ copies.map { case (copy, original) => output(copy, original.path) }
    )
  }
}
