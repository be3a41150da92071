package org.sparkzorder.stream

import scala.collection.mutable

/**
 * What an operation did in one folder: the outputs together hold the rows of the inputs together.
 *
 * @param id tells it from all others
 * @param inputs contents, see [[Provenance]]
 * @param isUndone whether its inputs are back and its outputs gone
 */
private[sparkzorder] final case class Exchange(id: String, inputs: Seq[String], outputs: Seq[String], isUndone: Boolean)

/** What a file system says of a file's contents: modification time in milliseconds since 1970, and bytes. */
private[sparkzorder] final case class Stamp(time: Long, length: Long)

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
) {
  def stamp: Stamp = Stamp(modificationTime, length)
}

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
 * name of that file, which nobody else uses. Any other has the first name of its file, and the file's time and length: `part-0` is a name
 * that each load may use again once an operation has freed it. A file of another time that lies where its content was left, with the same
 * length, was touched, or came back from a backup, and is that content still.
 *
 * @param changes oldest first
 */
private[sparkzorder] final class Provenance(changes: Iterable[FolderChange]) {
  import Provenance._

  private val creators = mutable.HashMap.empty[String, Exchange]
  private val consumers = mutable.HashMap.empty[String, List[Exchange]]
  private val places = mutable.HashMap.empty[String, Place]
  private val order = mutable.HashMap.empty[String, Int]

  /** The operation that gave a file a name that none had before. */
  private val appeared = mutable.HashMap.empty[String, Int]

  /** What was found under a name, in the order in which it was taken from there. */
  private val generations = mutable.HashMap.empty[String, Vector[Generation]]
  private val ofTrash = mutable.HashMap.empty[String, String]

  changes.zipWithIndex.foreach { case (change, i) => add(change, i) }

  private def add(change: FolderChange, position: Int): Unit = {
    val inputs = change.inputs.map(consumed(_, if (change.isUndone) Stays else position))
    if (change.made.nonEmpty) {
      val exchange = Exchange(change.id, inputs, change.made.map(_.path), change.isUndone)
      exchange.outputs.foreach { o =>
        creators.put(o, exchange)
        order.put(o, position + 1)
        appeared.put(o, position + 1)
      }
      if (!change.isUndone) inputs.foreach(i => consumers.put(i, exchange :: consumers.getOrElse(i, Nil)))
    }
    if (!change.isUndone) {
      change.inputs.zip(inputs).foreach { case (f, content) =>
        f.trash.foreach { t =>
          places.put(content, Place(t, f.path))
          ofTrash.put(t, content)
        }
      }
      change.made.foreach(f => places.put(f.path, Place(f.path, f.path)))
    }
    change.returned.foreach { f =>
      val content =
        f.trash.flatMap(ofTrash.get).getOrElse(consumed(f.copy(path = f.before.getOrElse(f.path)), position))
      if (f.before.exists(_ != f.path)) appeared.put(f.path, position + 1)
      // A stream may have seen the name before the operation was undone.
      if (content != f.path) remember(f.path, Generation(f.stamp, content, if (change.isUndone) position else Stays))
      if (!change.isUndone) places.put(content, Place(f.path, f.path))
    }
  }

  private def consumed(f: MovedFile, taken: Int): String =
    if (creators.contains(f.path)) f.path
    else {
      val found = known(f.path)
      val content = found.find(_.stamp == f.stamp).orElse(left(found, f.length)).fold(named(f.path, f.stamp))(_.content)
      // Whatever else was left there lies there no more.
      generations.put(f.path, found.map(g => if (g.taken == Stays && taken != Stays) g.copy(taken = taken) else g))
      remember(f.path, Generation(f.stamp, content, taken))
      content
    }

  private def known(path: String): Vector[Generation] = generations.getOrElse(path, Vector.empty)

  /** The last one that was left there, of this length. */
  private def left(found: Vector[Generation], length: Long): Option[Generation] =
    found.findLast(_.taken == Stays).filter(_.stamp.length == length)

  private def remember(path: String, generation: Generation): Unit =
    generations.put(path, known(path).filterNot(_.stamp == generation.stamp) :+ generation)

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

  /** Who sees the name sees it after this operation, a number that grows; 0 for names that were there before all. */
  def appearance(path: String): Int = appeared.getOrElse(path, 0)

  /**
   * What a stream's log means by a path.
   *
   * Spark takes what is overwritten in place for the file that it has seen, and lists no path twice. So if no operation
   * found a file of the time in the log, it is one that was touched, or overwritten, before one took it.
   *
   * @param time the file's modification time when it was noted
   * @param there what lies under the path now
   * @param after the latest [[appearance]] of the names that were noted no later, in the same folder: what was taken
   *              before is not meant
   */
  def ofLog(path: String, time: Long, there: => Option[Stamp] = None, after: Int = 0): String =
    if (creators.contains(path)) path
    else {
      val found = known(path)
      if (found.isEmpty) named(path, time)
      else
        there.filter(_.time == time) match {
          case Some(stamp) =>
            found.find(_.stamp == stamp).orElse(left(found, stamp.length)).fold(named(path, stamp))(_.content)
          case None =>
            val later = found.filter(_.taken >= after)
            val ofTime = found.filter(_.stamp.time == time)
            ofTime.find(_.taken >= after).orElse(ofTime.lastOption)
              .orElse(later.filter(_.stamp.time >= time).minByOption(_.stamp.time))
              .orElse(later.maxByOption(_.stamp.time))
              .fold(named(path, time))(_.content)
        }
    }

  /**
   * What a file was that is not any more as it was listed. None when nobody can tell.
   *
   * @param there what lies under the path now
   * @param after as for a log, of the names that were listed with it
   */
  def ofListing(path: String, listed: Stamp, there: => Option[Stamp], after: Int): Option[String] =
    if (creators.contains(path)) Some(path)
    else {
      val found = known(path)
      val later = found.filter(_.taken >= after)
      found.find(_.stamp == listed).map(_.content).orElse {
        val touched = later.filter(_.stamp.length == listed.length).map(_.content).distinct
        val isThere = there.exists(_.length == listed.length)
        // No operation took it: what lies there now is what Spark reads.
        if (later.isEmpty || (touched.isEmpty && isThere)) Some(named(path, listed))
        else if (isThere) None
        else Option.when(touched.size == 1)(touched.head)
      }
    }
}

private[sparkzorder] object Provenance {

  /** No path has this character. */
  private val At = '\u0000'

  /** What is under a name and was taken by no operation. */
  private val Stays = Int.MaxValue

  /**
   * A file that was found under a name.
   *
   * @param taken position of the change that took it from there
   */
  private final case class Generation(stamp: Stamp, content: String, taken: Int)

  private def named(path: String, stamp: Stamp): String = s"${named(path, stamp.time)}$At${stamp.length}"

  private def named(path: String, time: Long): String = s"$path$At$time"

  /** When the file was written, of contents that are told apart by it. */
  def timeOf(content: String): Option[Long] = content.split(At).lift(1).map(_.toLong)

  /** Bytes of the file, likewise. */
  def lengthOf(content: String): Option[Long] = content.split(At).lift(2).map(_.toLong)

  def inPlace(content: String): Place = {
    val path = content.takeWhile(_ != At)
    Place(path, path)
  }
}
