package org.sparkzorder.stream

import scala.collection.mutable

/** A file in the log of a stream: its path without scheme, and its modification time when the stream saw it. */
private[stream] final case class Logged(path: String, time: Long) {
  def folder: String = path.substring(0, math.max(0, path.lastIndexOf('/')))
}

/**
 * Finds the content of each file in a stream's log. The log must be given from its beginning: earlier entries tell which
 * of several contents of one name is meant.
 *
 * @param there what is under a path now
 */
private[stream] final class LoggedContents(provenance: Provenance, there: String => Option[Stamp]) {
  private val contents = mutable.HashMap.empty[Logged, String]

  /** For each folder, the latest operation after which the stream saw a file there. */
  private val latest = mutable.HashMap.empty[String, Int]

  /** The contents of the next batch. Originals come before the files that were made from them. */
  def next(batch: Seq[Logged]): Seq[String] = {
    batch.foreach { f =>
      val appearance = provenance.appearance(f.path)
      if (appearance > latest.getOrElse(f.folder, 0)) latest.put(f.folder, appearance)
    }
    batch.foreach(f => contents.getOrElseUpdate(f, found(f)))
    batch.map(contents).sortBy(c => (provenance.rank(c), c))
  }

  def of(file: Logged): String = contents.getOrElse(file, found(file))

  private def found(f: Logged): String =
    provenance.ofLog(f.path, f.time, there(f.path), latest.getOrElse(f.folder, 0))
}
