package org.sparkzorder.stream

import scala.collection.mutable

import org.sparkzorder.commit.WrittenNames
import org.sparkzorder.compat._

/**
 * What an operation, perhaps undone since, did in one folder: all outputs together hold the rows of all inputs
 * together. Inputs are contents, see [[Provenance]].
 */
private[sparkzorder] final case class FileExchange(
    id: String,
    inputs: Seq[String],
    outputs: Seq[String],
    isUndone: Boolean
)

/** What a file system says about a file: modification time in milliseconds since 1970, and length in bytes. */
private[sparkzorder] final case class Stamp(time: Long, length: Long)

/** Where an operation left a file: its path without scheme, and its name in the table. */
private[sparkzorder] final case class FileLocation(path: String, name: String)

/**
 * A file that an operation took from a folder or put there.
 *
 * @param path of the file in the table, without scheme
 * @param before its name when it was retired, if it comes back under another one
 * @param trash its path in the trash: after it was taken, or before it came back
 */
private[stream] final case class MovedFile(
    path: String,
    length: Long,
    modificationTime: Long,
    before: Option[String] = None,
    trash: Option[String] = None
) {
  def stamp: Stamp = Stamp(modificationTime, length)
}

/**
 * The part of an operation in one folder: outputs that it made, or got from the trash. A RESTORE makes no new content.
 */
private[stream] final case class FolderChange(
    id: String,
    inputs: Seq[MovedFile],
    made: Seq[MovedFile],
    returned: Seq[MovedFile],
    isUndone: Boolean
)

/**
 * Where rows come from, by the records of a folder's operations.
 *
 * A *content* is what was written to a file, wherever the file was moved later. The content of an output is named after
 * the output's file, since no other file has this name. Any other content is named after the first name of its file,
 * with the file's time and length: each load may use a name such as `part-0` again once an operation has freed it. A
 * file with another time but the same length, where a content was left, is still that content: it was touched, or came
 * back from a backup.
 *
 * @param changes oldest first
 * @param forgottenUntil no operation was later of which the record is gone
 */
private[sparkzorder] final class Provenance(changes: Iterable[FolderChange], forgottenUntil: Option[Long] = None) {
  import Provenance._

  private val creators = mutable.HashMap.empty[String, FileExchange]
  private val consumers = mutable.HashMap.empty[String, List[FileExchange]]
  private val places = mutable.HashMap.empty[String, FileLocation]
  private val order = mutable.HashMap.empty[String, Int]

  /** The contents that operations found under a name, in the order in which they were taken away. */
  private val generations = mutable.HashMap.empty[String, Vector[Generation]]
  private val ofTrash = mutable.HashMap.empty[String, String]

  changes.zipWithIndex.foreach { case (change, i) => add(change, i) }

  private def add(change: FolderChange, position: Int): Unit = {
    val inputs = change.inputs.map(consumed(_, stays = change.isUndone))
    if (change.made.nonEmpty) {
      val exchange = FileExchange(change.id, inputs, change.made.map(_.path), change.isUndone)
      exchange.outputs.foreach { o =>
        creators.put(o, exchange)
        order.put(o, position + 1)
      }
      if (!change.isUndone) inputs.foreach(i => consumers.put(i, exchange :: consumers.getOrElse(i, Nil)))
    }
    if (!change.isUndone) {
      change.inputs.zip(inputs).foreach { case (f, content) =>
        f.trash.foreach { t =>
          places.put(content, FileLocation(t, f.path))
          ofTrash.put(t, content)
        }
      }
      change.made.foreach(f => places.put(f.path, FileLocation(f.path, f.path)))
    }
    change.returned.foreach { f =>
      val content =
        f.trash.flatMap(ofTrash.get).getOrElse(consumed(f.copy(path = f.before.getOrElse(f.path)), stays = false))
      // A stream may have seen the file under this name before the operation was undone.
      if (content != f.path) remember(f.path, Generation(f.stamp, content, stays = !change.isUndone))
      if (!change.isUndone) places.put(content, FileLocation(f.path, f.path))
    }
  }

  private def consumed(f: MovedFile, stays: Boolean): String =
    if (creators.contains(f.path)) f.path
    else {
      val found = known(f.path)
      val content = found.find(_.stamp == f.stamp).orElse(left(found, f.length)).fold(named(f.path, f.stamp))(_.content)
      // Any other content that was left under this name is gone.
      if (!stays) generations.put(f.path, found.map(_.copy(stays = false)))
      remember(f.path, Generation(f.stamp, content, stays))
      content
    }

  private def known(path: String): Vector[Generation] = generations.getOrElse(path, Vector.empty)

  /** The content that was left there last, if it has this length. */
  private def left(found: Vector[Generation], length: Long): Option[Generation] =
    found.findLast(_.stays).filter(_.stamp.length == length)

  private def remember(path: String, generation: Generation): Unit =
    generations.put(path, known(path).filterNot(_.stamp == generation.stamp) :+ generation)

  /** The exchange that wrote the content. */
  def creator(content: String): Option[FileExchange] = creators.get(content)

  /** Exchanges that rewrote the content. There are several if RESTORE brought it back. */
  def consumersOf(content: String): Seq[FileExchange] = consumers.getOrElse(content, Nil)

  def place(content: String): FileLocation = places.getOrElse(content, Provenance.inPlace(content))

  /** Whether a record says where the content is. */
  def isKnown(content: String): Boolean = places.contains(content)

  /** Whether it is not known which content of this name an entry of a stream's log means, see [[ofLog]]. */
  def isInDoubt(path: String, time: Long, there: => Option[Stamp]): Boolean =
    !creators.contains(path) && known(path).nonEmpty && meant(path, time, there).isEmpty

  /** Whether a RESTORE whose record is gone may have brought the content back. Its rows may be known from elsewhere. */
  def mayBeBack(content: String): Boolean = Provenance.timeOf(content).exists(time => forgottenUntil.exists(time <= _))

  /** Contents in the order of their rank come before those made from them. */
  def rank(content: String): Int = order.getOrElse(content, 0)

  /**
   * The content that an entry of a stream's log means.
   *
   * Spark takes a file that is overwritten in place for the file that it has seen, and lists no path twice. So if no
   * operation found a file with the time in the log, the file was touched or overwritten before an operation took it.
   * This can be told only if no other file had the name. Otherwise it counts as a file of its own.
   *
   * @param time the file's modification time when the stream saw it
   * @param there what is under the path now
   */
  def ofLog(path: String, time: Long, there: => Option[Stamp]): String =
    if (creators.contains(path)) path
    else if (known(path).isEmpty) named(path, time)
    else meant(path, time, there).getOrElse(named(path, time))

  private def meant(path: String, time: Long, there: Option[Stamp]): Option[String] = {
    val found = known(path)
    val now = there.filter(_.time == time).map { stamp =>
      found.find(_.stamp == stamp).orElse(left(found, stamp.length)).fold(named(path, stamp))(_.content)
    }
    (found.filter(_.stamp.time == time).map(_.content) ++ now).distinct match {
      case Seq() =>
        val isSure = !forgottenUntil.exists(time <= _) || WrittenNames.isOurs(path.substring(path.lastIndexOf('/') + 1))
        val isTouched = there.forall(stamp => left(found, stamp.length).isDefined)
        found.map(_.content).distinct match {
          case Seq(one) if isSure && isTouched => Some(one)
          case _                               => None
        }
      case Seq(one) => Some(one)
      case _        => None
    }
  }
}

private[sparkzorder] object Provenance {

  /** A character that no path contains. */
  private val At = '\u0000'

  /** A content that an operation found under a name, and whether it was left there. */
  private final case class Generation(stamp: Stamp, content: String, stays: Boolean)

  private def named(path: String, stamp: Stamp): String = s"${named(path, stamp.time)}$At${stamp.length}"

  private def named(path: String, time: Long): String = s"$path$At$time"

  /** When the file was written, if the content's name says so. */
  def timeOf(content: String): Option[Long] = content.split(At).lift(1).map(_.toLong)

  def inPlace(content: String): FileLocation = {
    val path = content.takeWhile(_ != At)
    FileLocation(path, path)
  }
}

/** A file in the log of a stream: its path without scheme, and its modification time when the stream saw it. */
private[stream] final case class Logged(path: String, time: Long)

/** Finds the content of each file in a stream's log, by what is under its path now. */
private[stream] final class LoggedContents(provenance: Provenance, there: String => Option[Stamp]) {
  private val contents = mutable.HashMap.empty[Logged, String]

  /** The contents of a batch. Originals come before the files that were made from them. */
  def of(batch: Seq[Logged]): Seq[String] = batch.map(of).sortBy(c => (provenance.rank(c), c))

  def of(f: Logged): String = contents.getOrElseUpdate(f, provenance.ofLog(f.path, f.time, there(f.path)))
}
