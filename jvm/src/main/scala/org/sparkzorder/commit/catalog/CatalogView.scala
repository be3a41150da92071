package org.sparkzorder.commit.catalog

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.{CatalogLocations, CatalogPartition, FileOps, TableFolder}

/** Where a table is, by its history and by the catalog, each read once. */
private[sparkzorder] final case class CatalogView(
    history: LocationHistory,
    current: Map[CatalogPartition, Path],
    ops: FileOps
) {

  /** Which partition has its location where. */
  lazy val located: Map[Path, CatalogPartition] = current.map(_.swap)

  /** Locations that are folders which the table has left, or that were given up. A link may lead back as well. */
  lazy val locatedAgain: Map[Path, LeftFolder] = if (history.left.isEmpty) Map.empty
  else {
    val byRealPath = history.left.values.map(l => ops.realPath(new Path(l.folder)) -> l).toMap
    located.keys.flatMap { at =>
      history.left.get(at.toString).orElse(byRealPath.get(ops.realPath(at))).map(at -> _)
    }.toMap
  }

  /** Folders whose rows are in this one by now, and at which the table is not located. */
  def earlier(current: Path): Seq[LeftFolder] = {
    lazy val again = locatedAgain.values.map(_.folder).toSet
    history.earlier(current.toString).filterNot(left => again(left.folder))
  }
}

private[sparkzorder] object CatalogView {

  def read(home: TableFolder, catalog: CatalogLocations): CatalogView =
    CatalogView(LocationHistory.read(home), catalog.all(), home.ops)
}
