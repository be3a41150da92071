package org.sparkzorder.command

import java.util.concurrent.{ConcurrentHashMap, Executors, TimeUnit}

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.google.common.util.concurrent.ThreadFactoryBuilder
import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.compat._
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.progress.{ProgressSnapshot, StatementProgress}

/**
 * The statements of this application that run now. While one does, a line goes to the log every ten
 * seconds, and where Spark draws its own progress bar, one bar for the whole statement is drawn
 * instead. `spark.zorder.progress.enabled` set to false silences both.
 */
private[command] object RunningStatements extends Logging {
  private val LogSeconds = 10L
  private val BarMillis = 200L

  private final class Running(val session: ClassicSession, val progress: StatementProgress)

  private val running = ConcurrentHashMap.newKeySet[Running]()

  private lazy val timer = Executors.newScheduledThreadPool(
    1,
    new ThreadFactoryBuilder().setDaemon(true).setNameFormat("zorder-progress").build()
  )

  /** The statements that a session runs now, the oldest first. */
  def of(session: ClassicSession): Seq[ProgressSnapshot] =
    running.asScala.toSeq.filter(_.session eq session).map(_.progress.snapshot).sortBy(-_.millis)

  /** Runs a statement, whose work may report to [[StatementProgress.current]]. */
  def during[T](session: ClassicSession, operation: String, table: String)(work: => T): T = {
    val progress = new StatementProgress(operation, table)
    val own = new Running(session, progress)
    val shown = if (session.sessionState.conf.getConf(ZOrderConf.progressEnabled)) watch(session, progress) else Nil
    running.add(own)
    try StatementProgress.during(Some(progress))(work)
    finally {
      running.remove(own)
      shown.foreach(_())
    }
  }

  private def watch(session: ClassicSession, progress: StatementProgress): Seq[() => Unit] = {
    val line = every(LogSeconds * 1000)(logInfo(ProgressText.line(progress.snapshot)))
    val bar = Option.when(SparkOwn.drawsProgressBar(session.sparkContext)) {
      val bar = new ConsoleBar(session.sparkContext, System.err)
      val drawing = every(BarMillis)(bar.draw(progress.snapshot))
      () => { drawing(); bar.clear() }
    }
    line +: bar.toSeq
  }

  private def every(millis: Long)(show: => Unit): () => Unit = {
    val task: Runnable = () =>
      try show
      // A task that throws would never run again, and the statement must not fail for a picture.
      catch { case NonFatal(e) => logDebug("cannot show the progress", e) }
    val timed = timer.scheduleWithFixedDelay(task, millis, millis, TimeUnit.MILLISECONDS)
    () => { timed.cancel(false); () }
  }
}
