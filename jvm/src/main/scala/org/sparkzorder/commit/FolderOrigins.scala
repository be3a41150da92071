package org.sparkzorder.commit

/**
 * Tells which folder of a record a folder was before somebody renamed or copied it, by the
 * operation's files in it. Names of folders prove nothing: two partitions may have been swapped.
 */
private[commit] final class FolderOrigins(folder: TableFolder, record: Record) {
  import FolderOrigins._

  private lazy val works = record.folders.toIndexedSeq

  private lazy val files: IndexedSeq[Seq[Known]] = works.map { work =>
    work.inputs.flatMap { i =>
      def known(place: Place, name: String) = Known(place, name, i.length, i.modificationTime)
      Seq(known(Visible, FileNames.name(i.path)), known(Retired, FileNames.retiredName(i.path)))
    } ++ work.outputs.flatMap { o =>
      def known(place: Place, name: String) = Known(place, name, o.length, o.modificationTime)
      Seq(known(Visible, FileNames.name(o.path)), known(Staged, FileNames.stagedName(o.path)))
    }
  }

  /** Folders of the record that had such a file, by number. */
  private lazy val exact: Map[Known, Seq[Int]] = folders(identity)

  /** The same by place and name alone, as in a copy without times. */
  private lazy val named: Map[(Place, String), Seq[Int]] = folders(k => (k.place, k.name))

  private def folders[K](key: Known => K): Map[K, Seq[Int]] =
    files.zipWithIndex.flatMap { case (known, i) => known.map(k => key(k) -> i) }.groupMap(_._1)(_._2)

  /** Whether the operation's staging or trash is in the folder. */
  def holds(dir: String): Boolean =
    folder.ops.exists(folder.stagingOf(dir, record)) ||
      // The trash of the first format has no id in its name.
      TableFolder.trashName(record).contains(record.operationId) && folder.ops.exists(folder.trashOf(dir, record))

  /** Whether anything of the operation is left in a folder of the record. */
  def isLeft(dir: String): Boolean = holds(dir) || filesIn(dir).exists(isOf(dir))

  /** Whether the folder holds what the operation has in another folder of the record. */
  def isForeign(dir: String): Boolean = holds(dir) && of(dir).exists(_.folder != dir)

  /**
   * The folder of the record that became this one, if any file tells. Files in the operation's own
   * folders tell more than visible ones, which anybody may copy. If several fit equally well, it is
   * the one of this name, or else one that is gone.
   */
  def of(dir: String): Option[FolderWork] = {
    val found = filesIn(dir)
    val (own, visible) = found.partition(_.place != Visible)
    if (own.nonEmpty && own.forall(isOf(dir))) works.find(_.folder == dir)
    else best(dir, own, visible, exact)(identity)
      .orElse(best(dir, own, visible, named)(k => (k.place, k.name)))
  }

  private def filesIn(dir: String): Seq[Known] =
    Seq(
      Staged -> folder.stagingOf(dir, record),
      Retired -> folder.trashOf(dir, record),
      Visible -> folder.resolve(dir)
    ).flatMap { case (place, path) =>
      folder.ops.list(path).filterNot(m => m.isDirectory || m.name.startsWith(".")).map(m =>
        Known(place, m.name, m.length, m.modificationTime)
      )
    }

  private lazy val ofFolder: Map[String, Set[Known]] =
    works.map(_.folder).zip(files).map { case (dir, known) => dir -> known.toSet }.toMap

  private def isOf(dir: String)(file: Known): Boolean = ofFolder.get(dir).exists(_(file))

  private def best[K](dir: String, own: Seq[Known], visible: Seq[Known], index: Map[K, Seq[Int]])(
      key: Known => K
  ): Option[FolderWork] = {
    def counts(of: Seq[Known]): Map[Int, Int] =
      of.flatMap(k => index.getOrElse(key(k), Nil)).groupMapReduce(identity)(_ => 1)(_ + _)
    val (inOwn, inData) = (counts(own), counts(visible))
    val candidates = (inOwn.keySet ++ inData.keySet).toSeq.sorted
    def score(i: Int): (Int, Int) = (inOwn.getOrElse(i, 0), inData.getOrElse(i, 0))
    val most = candidates.map(score).maxOption
    val equal = candidates.filter(i => most.contains(score(i))).map(works)
    equal.find(_.folder == dir).orElse(equal.find(w => !folder.ops.exists(folder.resolve(w.folder))))
      .orElse(equal.headOption)
  }
}

private object FolderOrigins {
  private sealed trait Place
  private case object Visible extends Place
  private case object Staged extends Place
  private case object Retired extends Place

  private final case class Known(place: Place, name: String, length: Long, modificationTime: Long)
}
