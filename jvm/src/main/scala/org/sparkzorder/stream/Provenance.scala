package org.sparkzorder.stream

import scala.collection.{immutable, mutable}

/**
 * What an operation did in one folder: the outputs together hold the rows of the inputs together.
 *
 * @param id tells it from all others
 * @param inputs contents, see [[Provenance]]
 * @param isUndone whether its inputs are back and its outputs gone
 */
private[sparkzorder] final case class Exchange(id: String, inputs: Seq[String], outputs: Seq[String], isUndone: Boolean)

/** A file as an operation left it: its path, without scheme, and what it was called in the table. */
private[sparkzorder] final case class Place(path: String, name: String)

/**
 * A file that an operation took from a folder or put there.
 *
 * @param path where the table has it, without scheme
 * @param before its name when it was retired, if it comes back by another
 * @param trash where it was put when it was taken, or lay before it came back
 */
private[stream] final case class MovedFile(
    path: String,
    length: Long,
    modificationTime: Long,
    before: Option[String] = None,
    trash: Option[String] = None
)

/**
 * One folder's part of an operation. A RESTORE only moves files: it makes no content.
 *
 * @param made outputs that were written
 * @param returned outputs that came out of the trash
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
 * A *content* is what was in a file from the moment it was written, wherever the file was moved since. The content of an output has the
 * name of that file, which nobody else uses. Any other has the first name of its file, and the file's time: `part-0` is a name that each
 * load may use again once an operation has freed it.
 *
 * @param changes oldest first
 */
private[sparkzorder] final class Provenance(changes: Iterable[FolderChange]) {
  import Provenance._

  private val creators = mutable.HashMap.empty[String, Exchange]
  private val consumers = mutable.HashMap.empty[String, List[Exchange]]
  private val places = mutable.HashMap.empty[String, Place]
  private val order = mutable.HashMap.empty[String, Int]

  /** What was found under a name, by the file's time then. */
  private val generations = mutable.HashMap.empty[String, immutable.TreeMap[Long, String]]
  private val ofTrash = mutable.HashMap.empty[String, String]

  /** What an operation brought back to a name, with the file's length. */
  private val returned = mutable.HashMap.empty[String, (String, Long)]
  changes.zipWithIndex.foreach { case (change, i) => add(change, i) }

  private def add(change: FolderChange, position: Int): Unit = {
    val inputs = change.inputs.map(consumed)
    if (change.made.nonEmpty) {
      val exchange = Exchange(change.id, inputs, change.made.map(_.path), change.isUndone)
      exchange.outputs.foreach { o =>
        creators.put(o, exchange)
        order.put(o, position + 1)
      }
      if (!change.isUndone) inputs.foreach(i => consumers.put(i, exchange :: consumers.getOrElse(i, Nil)))
    }
    if (!change.isUndone) {
      change.inputs.zip(inputs).foreach { case (f, content) =>
        returned.remove(f.path)
        f.trash.foreach { t =>
          places.put(content, Place(t, f.path))
          ofTrash.put(t, content)
        }
      }
      change.made.foreach(f => places.put(f.path, Place(f.path, f.path)))
    }
    change.returned.foreach { f =>
      val content = f.trash.flatMap(ofTrash.get).getOrElse(consumed(f.copy(path = f.before.getOrElse(f.path))))
      // A stream may have seen the name before the operation was undone.
      if (content != f.path) remember(f.path, f.modificationTime, content)
      if (!change.isUndone) {
        places.put(content, Place(f.path, f.path))
        returned.put(f.path, (content, f.length))
      }
    }
  }

  private def consumed(f: MovedFile): String =
    if (creators.contains(f.path)) f.path
    else
      generations.get(f.path).flatMap(_.get(f.modificationTime)).getOrElse {
        // Somebody has touched it: it has another time, but is where it was brought back.
        val touched = returned.get(f.path).collect { case (there, length) if length == f.length => there }
        val content = touched.getOrElse(named(f.path, f.modificationTime))
        remember(f.path, f.modificationTime, content)
        content
      }

  private def remember(path: String, time: Long, content: String): Unit =
    generations.put(path, generations.getOrElse(path, immutable.TreeMap.empty[Long, String]).updated(time, content))

  /** The operation that wrote it. */
  def creator(content: String): Option[Exchange] = creators.get(content)

  /** Operations that rewrote it; several when RESTORE brought it back. */
  def consumersOf(content: String): Seq[Exchange] = consumers.getOrElse(content, Nil)

  /** Where it is now. */
  def place(content: String): Place = places.getOrElse(content, Provenance.inPlace(content))

  /** Whether any record names it. */
  def isKnown(content: String): Boolean = places.contains(content)

  /** Originals come before what was made of them. */
  def rank(content: String): Int = order.getOrElse(content, 0)

  /**
   * What somebody saw under a path.
   *
   * @param time the file's modification time then. Where no operation found a file of just this time, it is the next that one found
   *             later, as for a stream, which takes a file that is overwritten in place for the one that it has seen
   * @param isThere whether a file of this time lies there now: then no operation has taken it
   */
  def contentOf(path: String, time: Long, isThere: => Boolean = false): String =
    if (creators.contains(path)) path
    else
      generations.get(path).fold(named(path, time)) { found =>
        found.get(time)
          .orElse(if (isThere) None else found.minAfter(time).map(_._2))
          .getOrElse(named(path, time))
      }
}

private[stream] object Provenance {

  /** No path has this character. */
  private val At = '\u0000'

  private def named(path: String, time: Long): String = s"$path$At$time"

  /** When the file was written, of contents that are told apart by it. */
  def timeOf(content: String): Option[Long] = content.split(At).lift(1).map(_.toLong)

  def inPlace(content: String): Place = {
    val path = content.takeWhile(_ != At)
    Place(path, path)
  }
}
