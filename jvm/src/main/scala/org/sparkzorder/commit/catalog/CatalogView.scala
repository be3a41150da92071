package org.sparkzorder.commit.catalog

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.{CatalogLocations, CatalogPartition, LocationUpdate, TableFolder}

/** Where a table is, by its history and by the catalog, each read once. */
private[sparkzorder] final case class CatalogView(history: LocationHistory, current: Map[CatalogPartition, Path]) {

  /** Which partition has its location where. */
  lazy val located: Map[Path, CatalogPartition] = current.map(_.swap)

  /** Locations that are folders of operations that were given up, with the folders that have their rows. */
  def givenUp: Seq[LocationUpdate] = current.toSeq.flatMap { case (partition, path) =>
    history.headOfGivenUp(path.toString).map(to => LocationUpdate(partition, path, new Path(to)))
  }
}

private[sparkzorder] object CatalogView {

  def read(home: TableFolder, catalog: CatalogLocations): CatalogView =
    CatalogView(LocationHistory.read(home), catalog.all())
}
