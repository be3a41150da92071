package org.sparkzorder.commit

private[commit] object StoragePlaces {

  /**
   * The places of the storage that a table is on.
   *
   * @param threads how many places, or files of one place, are worked on at the same time
   */
  def of(folder: TableFolder, threads: Int): Places =
    ObjectFileOps.storeOf(folder).fold[Places](new FolderPlaces(folder, threads))(new StorePlaces(_, folder, threads))
}
