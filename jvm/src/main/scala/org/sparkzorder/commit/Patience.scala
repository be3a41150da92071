package org.sparkzorder.commit

import java.io.IOException

import scala.annotation.tailrec
import scala.util.{Failure, Try}

import org.slf4j.LoggerFactory

/**
 * Does again what failed with an I/O error, after pauses that double.
 *
 * @param attempts how often it is tried in all
 * @param firstPauseMillis before the second attempt
 */
private[commit] final case class Patience(attempts: Int, firstPauseMillis: Long, sleep: Long => Unit) {

  /** Every step of the work can be done twice. */
  def apply[A](what: String)(work: => A): A = {
    @tailrec def again(left: Int): A = Try(work) match {
      case Failure(e: IOException) if left > 1 =>
        Patience.log.warn(s"$what failed, trying again", e)
        sleep(firstPauseMillis << (attempts - left))
        again(left - 1)
      case result => result.get
    }
    again(attempts)
  }
}

private object Patience {
  private val log = LoggerFactory.getLogger(classOf[Patience])
}
