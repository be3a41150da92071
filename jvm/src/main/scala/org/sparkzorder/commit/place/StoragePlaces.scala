package org.sparkzorder.commit.place

import org.sparkzorder.commit._
import org.sparkzorder.commit.storage.ObjectFileOps

private[commit] object StoragePlaces {

  /**
   * The places of the storage that a table is on.
   *
   * @param holds whether this process has the table's lock
   * @param keep a person's word about folders of which nothing else tells whose files are the rows
   */
  def of(folder: TableFolder, holds: () => Boolean = () => false, keep: Option[Keep] = None): Places =
    ObjectFileOps.storeOf(folder).fold[Places](new FolderPlaces(folder, folder.threads, holds, keep))(
      new StorePlaces(_, folder, folder.threads, holds, keep = keep)
    )
}
