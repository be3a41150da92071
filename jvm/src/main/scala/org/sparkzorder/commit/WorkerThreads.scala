package org.sparkzorder.commit

import java.io.IOException
import java.security.PrivilegedAction
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}

import scala.annotation.tailrec
import scala.util.{Failure, Try}

import org.apache.hadoop.security.UserGroupInformation
import org.slf4j.LoggerFactory

import org.sparkzorder.compat._
import org.sparkzorder.progress.StatementProgress

/** Threads for work that must not be interrupted, and for work in many folders. */
private[sparkzorder] object WorkerThreads {

  /**
   * Runs the work on a thread of its own, to its end, also when the caller is interrupted. The
   * caller is interrupted afterwards, unless the work throws an InterruptedException.
   *
   * @param alone false to use the caller's own thread, as tests do
   * @param work gets a function that tells whether the caller was interrupted
   */
  def toTheEnd[A](name: String, alone: Boolean)(work: (() => Boolean) => A): A =
    if (!alone) work(() => Thread.interrupted())
    else {
      val result = new AtomicReference[Either[Throwable, A]]
      val interrupted = new AtomicBoolean
      val thread = daemon(name)(
        try result.set(Right(work(() => interrupted.get)))
        catch { case e: Throwable => result.set(Left(e)) }
      )
      join(Seq(thread), interrupted)
      if (interrupted.get && !result.get.left.exists(_.isInstanceOf[InterruptedException]))
        Thread.currentThread().interrupt()
      result.get.fold(throw _, identity)
    }

  /** Like `items.map(work)`, several at a time. */
  def map[A, B](items: Seq[A], threads: Int)(work: A => B): Seq[B] = {
    val results = new Array[Any](items.length)
    each(items.zipWithIndex, threads) { case (item, i) => results(i) = work(item) }
    results.toIndexedSeq.asInstanceOf[Seq[B]]
  }

  /**
   * Like `items.foreach(work)`, several at a time. After a failure no more items are begun, and it
   * waits for those that were begun. So no work goes on once this returns.
   */
  def each[A](items: Seq[A], threads: Int)(work: A => Unit): Unit =
    if (threads <= 1 || items.lengthIs <= 1) items.foreach(work)
    else {
      val indexed = items.toIndexedSeq
      val next = new AtomicInteger
      val failure = new AtomicReference[Throwable]
      val all = (1 to math.min(threads, items.length)).map { n =>
        daemon(s"${Thread.currentThread().getName}-$n") {
          try {
            var i = next.getAndIncrement()
            while (i < indexed.length && failure.get == null) {
              work(indexed(i))
              i = next.getAndIncrement()
            }
          } catch { case e: Throwable => failure.getAndUpdate(worse(_, e)); () }
        }
      }
      val interrupted = new AtomicBoolean
      join(all, interrupted)
      if (interrupted.get) Thread.currentThread().interrupt()
      if (failure.get != null) throw failure.get
    }

  /** The exception that is thrown if there are several: the one after which we may do the least. */
  private def worse(a: Throwable, b: Throwable): Throwable = {
    def weight(e: Throwable): Int = e match {
      case null                       => -1
      case _: Error                   => 4
      case _: LockLostException       => 3
      case _: CommitConflictException => 1
      case _                          => 0
    }
    if (weight(b) > weight(a)) b else a
  }

  private def daemon(name: String)(work: => Unit): Thread = {
    val user = UserGroupInformation.getCurrentUser
    val progress = StatementProgress.current
    val action: PrivilegedAction[Unit] = () => StatementProgress.during(progress)(work)
    val thread = new Thread(() => user.doAs(action), name)
    thread.setDaemon(true)
    thread.start()
    thread
  }

  private def join(threads: Seq[Thread], interrupted: AtomicBoolean): Unit =
    threads.foreach { thread =>
      while (thread.isAlive) {
        try thread.join()
        catch { case _: InterruptedException => interrupted.set(true) }
      }
    }
}

/**
 * Does again what failed with an I/O error, after pauses that double.
 *
 * @param attempts how often it is tried in all
 * @param firstPauseMillis before the second attempt
 */
private[commit] final case class Retries(attempts: Int, firstPauseMillis: Long, sleep: Long => Unit) {

  def apply[A](what: String)(work: => A): A = {
    @tailrec def again(left: Int): A = Try(work) match {
      case Failure(e: IOException) if left > 1 =>
        Retries.log.warn(s"$what failed, trying again", e)
        sleep(firstPauseMillis << (attempts - left))
        again(left - 1)
      case result => result.get
    }
    again(attempts)
  }
}

private object Retries {
  private val log = LoggerFactory.getLogger(classOf[Retries])
}
