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
 * Files that a query names itself, or by a pattern, which Spark resolves once. Later they may have been replaced. The query reads the
 * rows that they had: from the trash, or, if all that were rewritten together are named, from the files that hold their rows now.
 *
 * @param files the roots of the listing that are files, with their status as far as it was listed
 */
private[skipping] final class NamedFiles(
    session: classic.SparkSession,
    location: PartitioningAwareFileIndex,
    files: Seq[(Path, Option[FileStatus])]
) {

  def paths: Set[Path] = files.map(_._1).toSet

  def folders: Seq[Path] = files.map(_._1.getParent).distinct

  /**
   * The files where they are now; None when they are where the listing has them.
   *
   * @param options of the relation
   */
  def placed(options: Map[String, String]): Option[PlacedFiles] = {
    new StreamedTables(session, files.head._1).provenance(files.map(_._1)).flatMap { provenance =>
      val moved = notInPlace()
      if (moved.isEmpty) None
      else {
        val latest = files.groupMapReduce(_._1.getParent)(f => provenance.appearance(f._1.toUri.getPath))(math.max)
        val contents = files.map { case (path, status) =>
          def there = statusOf(path.toUri.getPath).map(stamp)
          val name = path.toUri.getPath
          val content = status match {
            case Some(s) if moved(path) =>
              provenance.ofListing(name, stamp(s), there, latest(path.getParent))
                .getOrElse(throw ZOrderErrors.filesReplaced(Seq(name)))
            case Some(s) => provenance.ofLog(name, s.getModificationTime, Some(stamp(s)), latest(path.getParent))
            case None    => provenance.ofLog(name, Long.MinValue, None, latest(path.getParent))
          }
          content -> (path -> status)
        }
        val inPlace = contents.collect { case (c, (path, Some(status))) if !moved(path) => c -> (path -> status) }.toMap
        val listed = contents.collect { case (c, (_, Some(status))) => c -> status }.toMap
        val found = NamedFiles.resolve(contents.map(_._1), provenance)(c =>
          inPlace.get(c).map(_._2)
            .orElse(statusOf(provenance.place(c).path).filter(s => Provenance.lengthOf(c).forall(_ == s.getLen)))
            .orElse(listed.get(c).filterNot(_ => provenance.isKnown(c)))
        )
        val now = found.map { case (c, status) =>
          PlacedFile(inPlace.get(c).fold(pathOf(provenance.place(c).name))(_._1), status)
        }
        val rest = location.allFiles().filterNot(s => paths(s.getPath)).map(s => PlacedFile(s.getPath, s))
        val roots = location.rootPaths.filterNot(paths) ++ now.map(_.path)
        Some(new PlacedFiles(session, options, Some(location.partitionSchema), now ++ rest, Some(roots)))
      }
    }
  }

  /** Those that do not lie where they were listed, as they were then. What lies there is read, whatever records say of its name. */
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

  /** None when all roots are folders. */
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
      // One folder is the usual case, and must not cost a look at each of its files.
      val roots =
        if (index.rootPaths.sizeIs == 1 && listed.sizeIs > 1) Nil
        else index.rootPaths.filter(root => byPath.contains(root) || !isFolder(root))
      if (roots.isEmpty) None else Some(new NamedFiles(session, index, roots.map(root => root -> byPath.get(root))))
    case _ => None
  }

  /** Each content is asked for once, and all exchanges that do not meet are followed at once: partitions may be many. */
  private def resolve(contents: Seq[String], provenance: Provenance)(
      status: String => Option[FileStatus]
  ): Seq[(String, FileStatus)] = {
    val asked = mutable.HashMap.empty[String, Option[FileStatus]]
    // After a RESTORE the way leads back to contents that are known to be gone.
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
        // A file that is named twice is read twice, and so would be only a part of the outputs.
        if (exchanges.isEmpty || exchanges.exists(_.inputs.exists(times(_) > 1)))
          throw ZOrderErrors.filesReplaced(gone.map(provenance.place(_).name))
        followed(contents.filterNot(taken) ++ exchanges.flatMap(_.outputs))
      }
    }
    followed(contents)
  }
}
