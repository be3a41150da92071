package org.sparkzorder.commit.place

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.matching.Regex

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit._
import org.sparkzorder.commit.log.History

/**
 * The marker of a folder on a disk or HDFS: a file in the folder's side folder whose name says the
 * decision. A decision is one rename, so of two processes only one makes it. An overwrite of the
 * folder deletes the marker, and the rename fails.
 *
 * @param dir where the marker is, relative to the root
 * @param hash of the folder that the record names. It is another one if the folder was moved
 */
private[commit] final class FolderMark private (folder: TableFolder, dir: String, hash: String, operationId: String) {
  private val ops = folder.ops

  def path(decision: Decision): Path =
    FileNames.child(folder.sideOf(dir), FolderMark.name(operationId, hash, decision))

  /** Takes the folder for the operation. The side folder must be there. */
  def claim(): Unit = ops.writeNew(path(Decision.Staged), s"${folder.root}\n$dir\n".getBytes(UTF_8))

  /**
   * What was decided, looked up by name, since a listing may be late. None when the marker is gone. Names are looked up
   * twice before that: only a person's word lets a decision go back, from `rolled-back` to `exchanged`.
   */
  def decision(): Option[Decision] = (Decision.all ++ Decision.all).find(d => ops.exists(path(d)))

  /**
   * Changes the decision. False when it had changed already, or the marker is gone.
   *
   * @throws java.io.IOException when the file system failed and the decision is as it was
   */
  def decide(from: Decision, to: Decision): Boolean =
    try {
      ops.rename(path(from), path(to))
      true
    } catch {
      // The rename may have taken effect.
      case e: IOException =>
        if (decision().contains(from)) throw e
        false
    }

  /** False when it is gone. */
  def remove(): Boolean = {
    val found = decision()
    found.foreach(d => ops.delete(path(d)))
    found.isDefined
  }
}

private[commit] object FolderMark {
  private val Name: Regex = """_exchange-(.+)-([0-9a-f]{16})\.([a-z-]+)""".r

  /** @param origin the folder that the record names */
  def apply(folder: TableFolder, dir: String, origin: String, operationId: String): FolderMark =
    new FolderMark(folder, dir, LongNames.hash(origin), operationId)

  /**
   * An operation's markers in a folder, also those that came with folders that were moved there. A listing may be late, so
   * the folder's own is always one of them.
   */
  def all(folder: TableFolder, dir: String, operationId: String): Seq[FolderMark] =
    (LongNames.hash(dir) +: folder.ops.list(folder.sideOf(dir)).flatMap(m => origin(m.name, operationId))).distinct
      .map(new FolderMark(folder, dir, _, operationId))

  private def name(operationId: String, hash: String, decision: Decision): String =
    s"${SideNames.Hidden}exchange-$operationId-$hash.${decision.name}"

  /**
   * Whether a marker of an operation that has ended tells nothing. Either its owner was undone before it had written a
   * file, and then woke up. Or the folder, or a copy of it, has all files of one side and none of the other: these are
   * its rows, whatever the marker says. To be asked under the lock, after a recovery.
   */
  def isSpare(folder: TableFolder, dir: String, fileName: String, operationId: String): Boolean = {
    val ended =
      (History.newestFirst(folder) ++ History.undone(folder)).map(_.record).filter(_.operationId == operationId)
    val work = ended.flatMap(_.folders).find(w => origin(fileName, operationId).contains(LongNames.hash(w.folder)))
    lazy val found = folder.ops.list(folder.resolve(dir)).map(m => m.name -> m).toMap
    def there(files: Seq[ExchangedFile]) =
      files.flatMap(f => found.get(FileNames.name(f.path)).map(f.isThis(_, timed = false)))
    def areRows(side: Seq[ExchangedFile], other: Seq[ExchangedFile]) =
      there(side) == side.map(_ => true) && there(other).isEmpty
    fileName.endsWith(s".${Decision.Staged.name}") && !folder.ops.exists(folder.stagingOf(dir, operationId)) ||
    work.exists(w => areRows(w.inputs, w.outputs) || areRows(w.outputs, w.inputs))
  }

  def operation(fileName: String): Option[String] = parsed(fileName).map(_._1)

  /** The hash of the folder that a marker of an operation was made for, if the file is one. */
  def origin(fileName: String, operationId: String): Option[String] =
    parsed(fileName).filter(_._1 == operationId).map(_._2)

  private def parsed(fileName: String): Option[(String, String)] = fileName match {
    case Name(id, hash, decision) if Decision.all.exists(_.name == decision) => Some(id -> hash)
    case _                                                                   => None
  }
}
