package org.sparkzorder.stream

import scala.collection.mutable

/**
 * Chooses the contents that a stream reads, so that each row arrives once.
 *
 * The rows of an exchange are delivered either through its outputs or through its inputs. This is decided when the
 * stream meets one of them for the first time, and never changes. If the stream has read any row of the inputs, it
 * reads all inputs, wherever they are now, and no output. Otherwise it reads the outputs, and later ignores inputs that
 * RESTORE brings back.
 *
 * The result depends on the order of files in the stream's log, and on the records of operations that were published
 * before the stream saw their files. So a restarted stream comes to the same result.
 *
 * @param isWanted whether the stream reads a file of this name at all, since it may choose files by a pattern. Rows
 *   that it does not want count as read
 */
private[stream] final class Deliveries(isWanted: String => Boolean = _ => true) {
  import Deliveries._

  private val read = mutable.HashSet.empty[String]
  private val ways = mutable.HashMap.empty[String, DeliveryMode]

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
    result.toVector
  }

  private def decide(exchange: FileExchange, provenance: Provenance): Unit =
    if (exchange.isUndone) ways.put(exchange.id, ByInputs)
    else {
      val above = undecided(exchange, provenance)
      if (above.exists(_.inputs.exists(isTouched(_, provenance)))) ways.put(exchange.id, ByInputs)
      // From now on no content before this exchange is read.
      else above.foreach(e => ways.put(e.id, ByOutputs))
    }

  /** The exchange and all undecided exchanges that its inputs came from. */
  private def undecided(exchange: FileExchange, provenance: Provenance): Seq[FileExchange] = {
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
    found.values.toVector
  }

  /** Whether rows of the content were delivered or never will be. Undecided exchanges before it are not looked at. */
  private def isTouched(content: String, provenance: Provenance): Boolean =
    read(content) ||
      provenance.consumersOf(content).exists(e => ways.get(e.id).contains(ByOutputs)) ||
      provenance.creator(content).fold(!isWanted(content))(e => ways.get(e.id).contains(ByInputs))
}

private[stream] object Deliveries {
  sealed trait DeliveryMode
  case object ByInputs extends DeliveryMode
  case object ByOutputs extends DeliveryMode
}
