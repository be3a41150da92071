package org.sparkzorder.command

import java.io.PrintStream
import java.util.Locale

import org.apache.spark.SparkContext
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.compat._
import org.sparkzorder.conf.ByteSizes
import org.sparkzorder.progress.ProgressSnapshot

/** Progress in words, for logs and for a bar. */
private[command] object ProgressText {

  /** `OPTIMIZE t: writing, 45 %, 12 of 24 files, 600 MiB of 1.2 GiB, 41 s, about 50 s left`. */
  def line(p: ProgressSnapshot): String =
    (Seq(s"${p.operation} ${p.table}: ${p.step}", percent(p)) ++ counts(p) ++ Seq(seconds(p.millis)) ++ left(p))
      .mkString(", ")

  /** `OPTIMIZE t [======>        ] 45 % writing, 12/24 files, 600/1230 MiB, 50 s left`, of a width at most. */
  def bar(p: ProgressSnapshot, width: Int): String = {
    val files = Option.when(p.totalFiles > 0)(s"${p.files}/${p.totalFiles} files")
    val bytes = Option.when(p.totalBytes > 0)(shareOf(p.bytes, p.totalBytes))
    val left = p.millisLeft.map(ms => s"${seconds(ms)} left")
    val words = (Seq(s"${percent(p)} ${p.step}") ++ files ++ bytes ++ left).mkString(", ")
    val name = s"${p.operation} ${p.table}"
    val free = width - 1 - words.length - 4
    val shown = if (name.length <= free - SmallestBar) name else shortened(name, math.max(free - SmallestBar, 8))
    val cells = math.max(free - shown.length, SmallestBar)
    val full = math.min(cells - 1, (p.fraction * cells).toInt)
    s"$shown [${"=" * full}>${" " * (cells - full - 1)}] $words".take(width - 1)
  }

  private val SmallestBar = 8

  /** Both in the largest unit in which the whole has at least two digits. */
  private def shareOf(bytes: Long, total: Long): String = {
    val (unit, name) = Seq(40 -> "TiB", 30 -> "GiB", 20 -> "MiB", 10 -> "KiB").find { case (n, _) => total >> n >= 10 }
      .getOrElse(0 -> "B")
    s"${bytes >> unit}/${total >> unit} $name"
  }

  private def shortened(name: String, length: Int): String = name.take(length - 2) + ".."

  private def percent(p: ProgressSnapshot): String = s"${(p.fraction * 100).toInt} %"

  private def counts(p: ProgressSnapshot): Seq[String] = {
    val files = Option.when(p.totalFiles > 0)(s"${p.files} of ${p.totalFiles} files")
    val bytes = Option.when(p.totalBytes > 0)(s"${ByteSizes.rounded(p.bytes)} of ${ByteSizes.rounded(p.totalBytes)}")
    files.toSeq ++ bytes
  }

  private def left(p: ProgressSnapshot): Seq[String] = p.millisLeft.map(ms => s"about ${seconds(ms)} left").toSeq

  private def seconds(millis: Long): String = {
    val s = math.max(1, math.round(millis / 1000d))
    if (s < 120) s"$s s" else if (s < 7200) s"${s / 60} min" else "%.1f h".formatLocal(Locale.ROOT, s / 3600d)
  }
}

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
