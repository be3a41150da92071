package org.sparkzorder

import java.util.concurrent.ConcurrentHashMap

import org.scalatest.Reporter
import org.scalatest.events._

/** Prints a line for each suite when it ends, and the tests that failed. `make test` sums the lines up. */
final class SuiteLines extends Reporter {
  import SuiteLines.Counts
  private val counts = new ConcurrentHashMap[String, Counts]

  private def add(suite: String, more: Counts): Unit = {
    counts.merge(suite, more, (a, b) => Counts(a.passed + b.passed, a.failed + b.failed, a.skipped + b.skipped))
    ()
  }

  override def apply(event: Event): Unit = event match {
    case e: TestSucceeded => add(e.suiteId, Counts(1, 0, 0))
    case e: TestIgnored   => add(e.suiteId, Counts(0, 0, 1))
    case e: TestPending   => add(e.suiteId, Counts(0, 0, 1))
    case e: TestCanceled  => add(e.suiteId, Counts(0, 0, 1))
    case e: TestFailed    =>
      add(e.suiteId, Counts(0, 1, 0))
      failed(s"${e.suiteName}: ${e.testName}: ${e.message}", e.throwable)
    case e: SuiteAborted =>
      add(e.suiteId, Counts(0, 1, 0))
      failed(s"${e.suiteName} ended early: ${e.message}", e.throwable)
      ended(e.suiteName, e.suiteId, e.duration)
    case e: SuiteCompleted => ended(e.suiteName, e.suiteId, e.duration)
    case _                 => ()
  }

  private def failed(message: String, cause: Option[Throwable]): Unit = {
    println(s"FAILED $message")
    cause.foreach(_.printStackTrace(System.out))
  }

  /** A suite of which no test was selected has no line. */
  private def ended(name: String, id: String, millis: Option[Long]): Unit = Option(counts.get(id)).foreach { c =>
    val more = Seq(c.failed -> "failed", c.skipped -> "skipped").collect { case (n, word) if n > 0 => s", $n $word" }
    println(f"${millis.getOrElse(0L) / 1000d}%6.1f s  $name, ${c.passed} passed${more.mkString}")
  }
}

private object SuiteLines {
  final case class Counts(passed: Int, failed: Int, skipped: Int)
}
