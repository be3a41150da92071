package org.sparkzorder.command

import java.io.PrintStream

import org.apache.spark.SparkContext
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.compat._
import org.sparkzorder.progress.ProgressSnapshot

/**
 * The progress bar of a statement on a terminal. Spark draws one for each stage in the same line, so
 * that one is kept away meanwhile.
 */
private[command] final class ConsoleBar(context: SparkContext, to: PrintStream) {
  import ConsoleBar._

  private var last = ""
  private var stopped = false

  def draw(progress: ProgressSnapshot): Unit = synchronized {
    if (!stopped && progress.millis >= FirstMillis) {
      SparkOwn.hideProgressBar(context)
      val bar = ProgressText.bar(progress, Width)
      if (bar != last) to.print(s"\r$bar${" " * math.max(0, last.length - bar.length)}")
      to.flush()
      last = bar
    }
  }

  /** Removes the bar for good. */
  def clear(): Unit = synchronized {
    stopped = true
    if (last.nonEmpty) {
      to.print(s"\r${" " * last.length}\r")
      to.flush()
    }
    last = ""
  }
}

private[command] object ConsoleBar {

  /** What is over before that needs no bar. */
  private val FirstMillis = 500L

  /** As wide as Spark's own, and no wider than one can read. */
  private val Width = Option(System.getenv("COLUMNS")).flatMap(_.toIntOption).filter(_ >= 40).getOrElse(80).min(120)
}
