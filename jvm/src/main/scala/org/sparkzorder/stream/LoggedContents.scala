package org.sparkzorder.stream

import scala.collection.mutable

/** A file as the log of a stream has it: its path, without scheme, and its modification time when it was noted. */
private[stream] final case class Logged(path: String, time: Long) {
  def folder: String = path.substring(0, math.max(0, path.lastIndexOf('/')))
}

/**
 * The contents that the files in a stream's log are. The log is taken in from its beginning: what was noted before a file
 * tells which of several contents of its name it is.
 *
 * @param there what lies under a path now
 */
private[stream] final class LoggedContents(provenance: Provenance, there: String => Option[Stamp]) {
  private val contents = mutable.HashMap.empty[Logged, String]

  /** By folder, the latest operation after which something was noted. */
  private val latest = mutable.HashMap.empty[String, Int]

  /** Takes in the next batch. Originals come before what was made of them. */
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
