package org.sparkzorder.write.job

import java.util.UUID
import java.util.concurrent.{ExecutionException, ExecutorService, Executors, Future, TimeUnit, TimeoutException}
import java.util.concurrent.atomic.AtomicReference

import com.google.common.util.concurrent.ThreadFactoryBuilder
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.SQLExecution

import org.sparkzorder.compat._
import org.sparkzorder.progress.StatementProgress

/** Runs several rewrites in parallel. */
object RewriteJobs {

  /**
   * Runs the jobs in parallel and merges their results: units and slots of a later job follow those
   * of the earlier ones. When one fails or the caller is interrupted, the others are cancelled.
   * They have ended when the error is thrown.
   *
   * @param maxConcurrent jobs at the same time, at least one
   */
  def run(session: SparkSession, jobs: Seq[RewriteJob], maxConcurrent: Int): RewriteResult =
    if (jobs.size == 1) jobs.head.run()
    else {
      val daemons = new ThreadFactoryBuilder().setDaemon(true).setNameFormat("spark-zorder-rewrite").build()
      val threads = Executors.newFixedThreadPool(math.min(maxConcurrent, jobs.size), daemons)
      try merged(all(session, jobs, threads))
      finally threads.shutdown()
    }

  private def all(session: SparkSession, jobs: Seq[RewriteJob], threads: ExecutorService): Seq[RewriteResult] = {
    val context = session.sparkContext
    val progress = StatementProgress.current
    val tag = s"spark-zorder-${UUID.randomUUID()}"
    val failure = new AtomicReference[Throwable]
    def stop(why: Throwable): Unit = if (failure.compareAndSet(null, why)) context.cancelJobsWithTag(tag)
    // The jobs get the caller's local properties, such as job group and description.
    val running = jobs.map { job =>
      SQLExecution.withThreadLocalCaptured(session, threads) {
        context.addJobTag(tag)
        if (failure.get != null) throw new IllegalStateException("not started, since another job failed")
        try StatementProgress.during(progress)(job.run())
        catch {
          case e: Throwable =>
            stop(e)
            throw e
        }
      }
    }
    try running.map(_.get())
    catch {
      case e @ (_: ExecutionException | _: InterruptedException) =>
        stop(e)
        settle(running)(context.cancelJobsWithTag(tag))
        throw failure.get
    }
  }

  /**
   * Waits until all have ended, with or without success, even if this thread is interrupted.
   *
   * @param again cancels again: a job between two jobs of Spark's was not cancelled at first
   */
  private def settle(running: Seq[Future[RewriteResult]])(again: => Unit): Unit = {
    var interrupted = false
    running.foreach { job =>
      while (!job.isDone)
        try job.get(PollMillis, TimeUnit.MILLISECONDS)
        catch {
          case _: TimeoutException     => again
          case _: ExecutionException   => ()
          case _: InterruptedException => interrupted = true
        }
    }
    if (interrupted) Thread.currentThread().interrupt()
  }

  private val PollMillis = 500L

  /** Merges the results into one for all units. */
  def merged(results: Seq[RewriteResult]): RewriteResult = {
    val firstUnits = results.scanLeft(0)(_ + _.samples.size)
    val firstSlots = results.scanLeft(0)((at, r) => at + r.outputs.map(_.slot + 1).maxOption.getOrElse(0))
    RewriteResult(
      outputs = results.zip(firstUnits.zip(firstSlots)).flatMap { case (r, (unit, slot)) =>
        r.outputs.map(o => o.copy(unit = o.unit + unit, slot = o.slot + slot))
      },
      samples = results.flatMap(_.samples).toIndexedSeq,
      sampledRows = results.map(_.sampledRows).sum,
      sampleMillis = results.map(_.sampleMillis).sum,
      writeMillis = results.map(_.writeMillis).sum,
      drifts = results.flatMap(_.drifts),
      read = results.flatMap(_.read).toIndexedSeq
    )
  }
}
