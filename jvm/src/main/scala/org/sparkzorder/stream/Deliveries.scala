package org.sparkzorder.stream

import scala.collection.mutable

/**
 * Which contents a stream reads, so that each row arrives once.
 *
 * The rows of an exchange are delivered either through its outputs or through its inputs. This is decided when the stream meets one of
 * them for the first time, and never changes: if the stream has read any row of the inputs, all of them are read, wherever they are
 * now, and no output is. Otherwise the outputs are read, and so inputs that RESTORE brings back are not.
 *
 * What comes out depends on the order of the files in the stream's log and on the records of operations that were published before the
 * stream saw their files. So it is the same when the stream is started again.
 *
 * @param isWanted whether the stream reads a file of this name at all: it may choose files by a pattern. Rows that it does not want
 *                 count as read
 */
private[stream] final class Deliveries(isWanted: String => Boolean = _ => true) {
  import Deliveries._

  private val read = mutable.HashSet.empty[String]
  private val ways = mutable.HashMap.empty[String, Way]

  /** Contents to read when the stream sees this one. */
  def see(content: String, provenance: Provenance): Seq[String] = {
    val result = mutable.ArrayBuffer.empty[String]
    val seen = mutable.HashSet.empty[String]
    val left = mutable.Stack(content)
    while (left.nonEmpty) {
      val next = left.pop()
      if (seen.add(next)) {
        val creator = provenance.creator(next)
        creator.filterNot(e => ways.contains(e.id)).foreach { e =>
          decide(e, provenance)
          if (ways(e.id) == ByInputs) left.pushAll(e.inputs)
        }
        if (!read(next)) {
          val rewritten = provenance.consumersOf(next).find(e => ways.get(e.id).contains(ByOutputs))
          if (rewritten.isDefined) left.pushAll(rewritten.get.outputs)
          else if (creator.forall(e => ways(e.id) == ByOutputs)) {
            read += next
            if (creator.isDefined || isWanted(next)) result += next
          }
        }
      }
    }
    result.toSeq
  }

  private def decide(exchange: Exchange, provenance: Provenance): Unit =
    if (exchange.isUndone) ways.put(exchange.id, ByInputs)
    else {
      val above = undecided(exchange, provenance)
      if (above.exists(_.inputs.exists(isTouched(_, provenance)))) ways.put(exchange.id, ByInputs)
      // Nothing before it will be read any more.
      else above.foreach(e => ways.put(e.id, ByOutputs))
    }

  /** The exchange and those that its inputs came from, as far as nothing is decided. */
  private def undecided(exchange: Exchange, provenance: Provenance): Seq[Exchange] = {
    val found = mutable.LinkedHashMap(exchange.id -> exchange)
    val left = mutable.Queue(exchange)
    while (left.nonEmpty) {
      for {
        input <- left.dequeue().inputs
        e <- provenance.creator(input)
        if !ways.contains(e.id) && !found.contains(e.id)
      } {
        found.put(e.id, e)
        left.enqueue(e)
      }
    }
    found.values.toSeq
  }

  /** Whether rows of it were delivered, or never will be; what an undecided exchange before it says is asked elsewhere. */
  private def isTouched(content: String, provenance: Provenance): Boolean =
    read(content) ||
      provenance.consumersOf(content).exists(e => ways.get(e.id).contains(ByOutputs)) ||
      provenance.creator(content).fold(!isWanted(content))(e => ways.get(e.id).contains(ByInputs))
}

private[stream] object Deliveries {
  sealed trait Way
  case object ByInputs extends Way
  case object ByOutputs extends Way
}
