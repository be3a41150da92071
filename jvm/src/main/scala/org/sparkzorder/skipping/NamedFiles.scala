package org.sparkzorder.skipping

import java.io.FileNotFoundException

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.datasources.{FileIndex, PartitioningAwareFileIndex}

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.stream.{Exchange, Provenance, Stamp, StreamedTables}
import org.sparkzorder.table.{PlacedFile, PlacedFiles, Targets}

/**
 * Files that a query names one by one or by a pattern. Spark resolves these names once, and OPTIMIZE may replace the
 * files afterwards. The query still reads the rows that the named files had: from the trash, or, if it names all files
 * that were rewritten together, from the files that hold their rows now.
 *
 * @param files those roots of the listing that are files, with their status if it was listed
 */
private[skipping] final class NamedFiles(
    session: classic.SparkSession,
    location: PartitioningAwareFileIndex,
    files: Seq[(Path, Option[FileStatus])]
) {

  def paths: Set[Path] = files.map(_._1).toSet

  def folders: Seq[Path] = files.map(_._1.getParent).distinct

  /**
   * Where the files are now; None if all are where the listing shows them.
   *
   * @param options of the relation
   */
  def placed(options: Map[String, String]): Option[PlacedFiles] =
    new StreamedTables(session, files.head._1).provenance(files.map(_._1)).flatMap { provenance =>
      val moved = notInPlace()
      if (moved.isEmpty) None else Some(located(options, provenance, moved))
    }

  import NamedFiles.NamedContent

  private def located(options: Map[String, String], provenance: Provenance, moved: Set[Path]): PlacedFiles = {
    val contents = contentsOf(provenance, moved)
    val inPlace = (for (n <- contents; s <- n.listed if !moved(n.path)) yield n.content -> (n.path -> s)).toMap
    val listed = (for (n <- contents; s <- n.listed) yield n.content -> s).toMap
    val found = NamedFiles.resolve(contents.map(_.content), provenance)(c =>
      inPlace.get(c).map(_._2)
        .orElse(statusOf(provenance.place(c).path).filter(s => Provenance.lengthOf(c).forall(_ == s.getLen)))
        .orElse(listed.get(c).filterNot(_ => provenance.isKnown(c)))
    )
    val now = found.map { case (c, status) =>
      PlacedFile(inPlace.get(c).fold(pathOf(provenance.place(c).name))(_._1), status)
    }
    val others = location.allFiles().filterNot(s => paths(s.getPath)).map(s => PlacedFile(s.getPath, s))
    val roots = location.rootPaths.filterNot(paths) ++ now.map(_.path)
    new PlacedFiles(session, options, Some(location.partitionSchema), now ++ others, Some(roots))
  }

  private def contentsOf(provenance: Provenance, moved: Set[Path]): Seq[NamedContent] = {
    val latest = files.groupMapReduce(_._1.getParent)(f => provenance.appearance(f._1.toUri.getPath))(math.max)
    files.map { case (path, status) =>
      val name = path.toUri.getPath
      val after = latest(path.getParent)
      def there = statusOf(name).map(stamp)
      val content = status match {
        case Some(s) if moved(path) =>
          provenance.ofListing(name, stamp(s), there, after).getOrElse(throw ZOrderErrors.filesReplaced(Seq(name)))
        case Some(s) => provenance.ofLog(name, s.getModificationTime, Some(stamp(s)), after)
        case None    => provenance.ofLog(name, Long.MinValue, None, after)
      }
      NamedContent(content, path, status)
    }
  }

  /** Files that are gone or not as they were listed. The others are read as they are, whatever records say. */
  private def notInPlace(): Set[Path] = {
    val byFolder = files.collect { case (path, Some(status)) => path -> status }.groupMap(_._1.getParent)(_._2)
    val look = new FreshLook(Targets.fileSystem(session, _))
    look.changed(byFolder.toSeq.map { case (folder, all) => LeftOut(folder, all, all.size) }) ++
      files.collect { case (path, None) => path }
  }

  private def stamp(s: FileStatus): Stamp = Stamp(s.getModificationTime, s.getLen)

  private def statusOf(path: String): Option[FileStatus] =
    try Some(Targets.fileSystem(session, files.head._1).getFileStatus(pathOf(path)))
    catch { case _: FileNotFoundException => None }

  private def pathOf(path: String): Path = {
    val uri = files.head._1.toUri
    new Path(uri.getScheme, uri.getAuthority, path)
  }
}

private[skipping] object NamedFiles {

  /** A named file, with the content that the query means by it. */
  private final case class NamedContent(content: String, path: Path, listed: Option[FileStatus])

  /** None if all roots are folders. */
  def of(session: classic.SparkSession, location: FileIndex): Option[NamedFiles] = location match {
    case _: PlacedFiles                    => None
    case index: PartitioningAwareFileIndex =>
      val listed = index.allFiles()
      lazy val byPath = listed.iterator.map(s => s.getPath -> s).toMap
      lazy val folders = listed.iterator.map(_.getPath.getParent).toSet
      def isFolder(root: Path) = folders(root) || folders.exists(_.toString.startsWith(s"$root/")) || {
        try Targets.fileSystem(session, root).getFileStatus(root).isDirectory
        catch { case _: FileNotFoundException => false }
      }
      // The usual case is one folder. It must not cost a look at each file.
      val roots =
        if (index.rootPaths.sizeIs == 1 && listed.sizeIs > 1) Nil
        else index.rootPaths.filter(root => byPath.contains(root) || !isFolder(root))
      if (roots.isEmpty) None else Some(new NamedFiles(session, index, roots.map(root => root -> byPath.get(root))))
    case _ => None
  }

  /**
   * Follows contents through exchanges until all of them are found. Each content is looked up once, and exchanges that
   * share no content are followed together, since there may be many partitions.
   */
  private def resolve(contents: Seq[String], provenance: Provenance)(
      status: String => Option[FileStatus]
  ): Seq[(String, FileStatus)] = {
    val asked = mutable.HashMap.empty[String, Option[FileStatus]]
    // After a RESTORE, following exchanges would lead back to contents that are gone.
    val done = mutable.HashSet.empty[Exchange]
    @tailrec def followed(contents: Seq[String]): Seq[(String, FileStatus)] = {
      val gone = contents.filter(c => asked.getOrElseUpdate(c, status(c)).isEmpty)
      if (gone.isEmpty) contents.flatMap(c => asked(c).map(c -> _))
      else {
        val times = contents.groupMapReduce(identity)(_ => 1)(_ + _)
        val taken = mutable.HashSet.empty[String]
        val exchanges = gone.iterator.filterNot(taken).flatMap { c =>
          val exchange = provenance.consumersOf(c)
            .find(e => !done(e) && e.inputs.forall(i => times.contains(i) && !taken(i)))
          exchange.foreach { e => taken ++= e.inputs; done += e }
          exchange
        }.toVector
        // If a file is named twice, its rows are read twice. The outputs cannot be read that way.
        if (exchanges.isEmpty || exchanges.exists(_.inputs.exists(times(_) > 1)))
          throw ZOrderErrors.filesReplaced(gone.map(provenance.place(_).name))
        followed(contents.filterNot(taken) ++ exchanges.flatMap(_.outputs))
      }
    }
    followed(contents)
  }
}
