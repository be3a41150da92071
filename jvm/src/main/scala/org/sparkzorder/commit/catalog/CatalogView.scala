package org.sparkzorder.commit.catalog

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.{CatalogLocations, CatalogPartition, FileOps, LocationUpdate, TableFolder}

/** Where a table is, by its history and by the catalog, each read once. */
private[sparkzorder] final case class CatalogView(history: LocationHistory, current: Map[CatalogPartition, Path]) {

  /** Which partition has its location where. */
  lazy val located: Map[Path, CatalogPartition] = current.map(_.swap)

  /** Locations that are folders of operations that were given up, with the folders that have their rows. */
  def givenUp: Seq[LocationUpdate] = current.toSeq.flatMap { case (partition, path) =>
    history.headOfGivenUp(path.toString).map(to => LocationUpdate(partition, path, new Path(to)))
  }

  /**
   * Locations that were set back, and must not be built on. A file whose rows have moved is a row again only by a
   * RESTORE. A folder without such files counts as a new one, also as that of another partition, unless rows are in
   * the folder to which the table had moved, and no location leads there.
   */
  def setBack(ops: FileOps): Seq[SetBack] = {
    // A link may lead back as well.
    val known = history.folders.map(f => ops.realPath(new Path(f)) -> new Path(f)).toMap
    val named = located.keySet ++ located.keySet.flatMap(l => known.get(ops.realPath(l)))
    def visible(folder: Path) = ops.list(folder).filter(StaleAppends.isVisible)
    history.setBack(named).filter { back =>
      back.reappeared(visible(back.current)).nonEmpty || !named(back.newer) && visible(back.newer).nonEmpty
    }
  }
}

private[sparkzorder] object CatalogView {

  def read(home: TableFolder, catalog: CatalogLocations): CatalogView =
    CatalogView(LocationHistory.read(home), catalog.all())
}
