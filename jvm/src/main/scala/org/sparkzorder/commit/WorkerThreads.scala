package org.sparkzorder.commit

import java.security.PrivilegedAction
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}

import org.apache.hadoop.security.UserGroupInformation

/** Threads for what must come to its end, and for what is done in many folders. */
private[sparkzorder] object WorkerThreads {

  /**
   * Runs the work on a thread of its own, whatever interrupts the caller. The caller is interrupted afterwards, unless the
   * work ends with an exception that says so.
   *
   * @param alone false for the caller's own thread, as tests have it
   * @param work is told how to ask whether the caller was interrupted
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
   * Like `items.foreach(work)`, several at a time. After a failure no more items are begun, and those begun are waited for:
   * nothing goes on once this returns.
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

  /** The one that decides what is to be done: after some of them the table must not be touched any more. */
  private def worse(a: Throwable, b: Throwable): Throwable = {
    def weight(e: Throwable): Int = e match {
      case null                       => -1
      case _: Error                   => 4
      case _: LockLostException       => 3
      case _: UnclearException        => 2
      case _: CommitConflictException => 1
      case _                          => 0
    }
    if (weight(b) > weight(a)) b else a
  }

  private def daemon(name: String)(work: => Unit): Thread = {
    val user = UserGroupInformation.getCurrentUser
    val action: PrivilegedAction[Unit] = () => work
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
