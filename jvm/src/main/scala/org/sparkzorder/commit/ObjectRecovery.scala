package org.sparkzorder.commit

/** Finishes or undoes what a dead owner left in a table on an object store. */
private[commit] object ObjectRecovery {

  /**
   * Goes on where an operation stopped, whose record is there.
   *
   * @return what came of it, in words for the log
   */
  def settle(store: ObjectStore, folder: TableFolder, record: Record, check: () => Unit, by: Option[String]): String = {
    val publish = new ObjectPublish(store, folder, record, check, folder.threads)
    val result = publish.toTheEnd(() => None)
    val why = "its owner died while it published its files"
    result.record match {
      case Some(done) =>
        Outcome.note(folder, done, why, by)
        s"finished version ${record.version}"
      case None =>
        Outcome.note(folder, record, "its owner died, and others had changed its files", by)
        s"undid version ${record.version}: others had changed its files"
    }
  }
}
