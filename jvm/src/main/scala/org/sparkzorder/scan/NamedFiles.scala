package org.sparkzorder.scan

import java.io.FileNotFoundException

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.classic
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources._
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.commit.machine.Recovery
import org.sparkzorder.compat._
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table.{PlacedFile, PlacedFiles, RecoveryErrors, Targets}

/**
 * Files that a query names one by one or by a pattern. Spark resolves these names once, when the DataFrame is made. A
 * name stands for a file and not for its rows: if OPTIMIZE has replaced the file since, the query fails.
 *
 * @param paths those roots of a listing that are files
 */
private[scan] final class NamedFiles(session: classic.SparkSession, val paths: Set[Path]) {

  def folders: Seq[Path] = paths.map(_.getParent).toSeq

  /**
   * Refuses to leave out files without a word: when Spark lists anew, a root that is gone is no error. Files that no
   * listing has, by their names, are left out by Spark itself.
   *
   * @param listed the files of a listing that may have been made anew
   * @param options of the relation, which may choose files
   */
  def refuseGone(listed: Seq[FileStatus], options: Map[String, String]): Unit = {
    val missing = (paths -- listed.map(_.getPath)).filterNot(p => SparkOwn.isHidden(p.getName))
    val (there, away) = missing.partition(NamedFiles.status(session, _).isDefined)
    val shown =
      if (there.isEmpty) Nil else new InMemoryFileIndex(session, there.toSeq, options, None).allFiles().map(_.getPath)
    val byName = PathFilterFactory.create(CaseInsensitiveMap(options)).collect { case f: PathGlobFilter => f }
    val gone = away.filter(p => byName.forall(_.accept(new FileStatus(0, false, 0, 0, 0, p)))) ++ shown
    if (gone.nonEmpty) throw ZOrderErrors.filesReplaced(gone.map(_.toUri.getPath).toSeq.sorted)
  }

  /**
   * Of the named files of one folder those that a query reads while files are being exchanged there. If it names all
   * files of the side that counts, the other side is left out. If it names one side only, this side has the rows that
   * it asks for.
   *
   * @param views of the tables
   */
  def sideOf(folder: Path, named: Seq[FileStatus], views: Seq[ScanSnapshot]): Seq[PlacedFile] = {
    val counts = views.flatMap(_.overlay).flatMap(_.added.getOrElse(folder, Nil)).map(f => f.path -> f).toMap
    val (exchanged, others) = named.partition(f => views.exists(_.hides(f)))
    val (right, wrong) = exchanged.partition(f => counts.contains(f.getPath))
    val read =
      if (right.isEmpty) wrong.map(asListed)
      else if (wrong.isEmpty || right.map(_.getPath).toSet == counts.keySet) right.map(f => counts(f.getPath))
      else throw ZOrderErrors.halfPublished(RecoveryErrors.quoted(folder), NamedFiles.WaitSeconds)
    others.map(asListed) ++ read
  }

  private def asListed(f: FileStatus) = PlacedFile(f.getPath, f)
}

private[scan] object NamedFiles {

  /** How long the query has waited by then. */
  private val WaitSeconds = Recovery.QueryWaitMillis / 1000

  private def status(session: classic.SparkSession, path: Path): Option[FileStatus] =
    try Some(Targets.fileSystem(session, path).getFileStatus(path))
    catch { case _: FileNotFoundException => None }

  /** None if all roots are folders. */
  def of(session: classic.SparkSession, location: FileIndex): Option[NamedFiles] = location match {
    case _: PlacedFiles                    => None
    case index: PartitioningAwareFileIndex =>
      val listed = index.allFiles()
      lazy val files = listed.iterator.map(_.getPath).toSet
      lazy val folders = listed.iterator.map(_.getPath.getParent).toSet
      def isFolder(root: Path) = folders(root) || folders.exists(_.toString.startsWith(s"$root/")) ||
        status(session, root).exists(_.isDirectory)
      // The usual case is one folder. It must not cost a look at each file.
      val roots =
        if (index.rootPaths.sizeIs == 1 && listed.sizeIs > 1) Nil
        else index.rootPaths.filter(root => files(root) || !isFolder(root))
      if (roots.isEmpty) None else Some(new NamedFiles(session, roots.toSet))
    case _ => None
  }
}
