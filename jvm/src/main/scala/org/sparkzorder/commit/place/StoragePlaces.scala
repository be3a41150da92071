package org.sparkzorder.commit.place

import org.sparkzorder.commit.TableFolder
import org.sparkzorder.commit.storage.ObjectFileOps

private[commit] object StoragePlaces {

  /**
   * The places of the storage that a table is on.
   *
   * @param holds whether this process has the table's lock
   * @param trustsMarkers whether a person says that the table was not copied while files were being exchanged
   */
  def of(folder: TableFolder, holds: () => Boolean = () => false, trustsMarkers: Boolean = false): Places =
    ObjectFileOps.storeOf(folder)
      .fold[Places](new FolderPlaces(folder, folder.threads, holds, trustsMarkers))(
        new StorePlaces(_, folder, folder.threads, holds, trustsMarkers = trustsMarkers)
      )
}
