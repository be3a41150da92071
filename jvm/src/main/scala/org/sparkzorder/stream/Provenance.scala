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

/** A file as an operation left it: its path, without scheme, and what it was called in the table. */
private[sparkzorder] final case class Place(path: String, name: String)

/**
 * A file that an operation took from a folder or put there.
 *
 * @param path where the table has it, without scheme
 * @param before its name when it was retired, if it comes back by another
 * @param trash where it was put when it was taken
 */
private[stream] final case class MovedFile(
    path: String,
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
 * A *content* is what was in a file from the moment it was written, wherever the file was moved since. Its name is the path of the
 * file in the table, the first one if there were several.
 *
 * @param changes oldest first
 */
private[sparkzorder] final class Provenance(changes: Iterable[FolderChange]) {
  private val creators = mutable.HashMap.empty[String, Exchange]
  private val consumers = mutable.HashMap.empty[String, List[Exchange]]
  private val firstNames = mutable.HashMap.empty[String, String]
  private val places = mutable.HashMap.empty[String, Place]
  private val times = mutable.HashMap.empty[String, Long]
  private val order = mutable.HashMap.empty[String, Int]
  changes.zipWithIndex.foreach { case (change, i) => add(change, i) }

  private def add(change: FolderChange, position: Int): Unit = {
    val inputs = change.inputs.map(f => first(f.path))
    if (change.made.nonEmpty) {
      val exchange = Exchange(change.id, inputs, change.made.map(_.path), change.isUndone)
      exchange.outputs.foreach { o =>
        creators.put(o, exchange)
        order.put(o, position + 1)
      }
      if (!change.isUndone) inputs.foreach(i => consumers.put(i, exchange :: consumers.getOrElse(i, Nil)))
    }
    change.inputs.zip(inputs).foreach { case (f, content) =>
      times.put(content, math.max(f.modificationTime, times.getOrElse(content, Long.MinValue)))
      if (!change.isUndone) f.trash.foreach(t => places.put(content, Place(t, f.path)))
    }
    if (!change.isUndone) change.made.foreach(f => places.put(f.path, Place(f.path, f.path)))
    change.returned.foreach { f =>
      val content = first(f.before.getOrElse(f.path))
      // A stream may have seen the name before the operation was undone.
      if (content != f.path) firstNames.put(f.path, content)
      if (!change.isUndone) places.put(content, Place(f.path, f.path))
    }
  }

  private def first(path: String): String = firstNames.getOrElse(path, path)

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
   * What a stream saw under a path.
   *
   * @param time the file's modification time then. A file that is younger than the one that an operation knew by this name is
   *             another one: somebody has used the name again
   */
  def contentOf(path: String, time: Long): String = {
    val content = first(path)
    val isOther = !creators.contains(content) && times.get(content).exists(_ < time)
    if (isOther) s"$path${Provenance.Again}$time" else content
  }
}

private[stream] object Provenance {

  /** No path has this character. */
  private val Again = '\u0000'

  def inPlace(content: String): Place = {
    val path = content.takeWhile(_ != Again)
    Place(path, path)
  }
}
