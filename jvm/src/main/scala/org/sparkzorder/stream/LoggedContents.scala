package org.sparkzorder.stream

import scala.collection.mutable

/** A file in the log of a stream: its path without scheme, and its modification time when the stream saw it. */
private[stream] final case class Logged(path: String, time: Long)

/**
 * Finds the content of each file in a stream's log.
 *
 * @param there what is under a path now
 */
private[stream] final class LoggedContents(provenance: Provenance, there: String => Option[Stamp]) {
  private val contents = mutable.HashMap.empty[Logged, String]

  /** The contents of a batch. Originals come before the files that were made from them. */
  def of(batch: Seq[Logged]): Seq[String] = batch.map(of).sortBy(c => (provenance.rank(c), c))

  def of(f: Logged): String = contents.getOrElseUpdate(f, provenance.ofLog(f.path, f.time, there(f.path)))
}
