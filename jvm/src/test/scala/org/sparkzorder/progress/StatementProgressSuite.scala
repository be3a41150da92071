package org.sparkzorder.progress

import org.scalacheck.Gen

import org.sparkzorder.PropertySuite

class StatementProgressSuite extends PropertySuite(10) {
  test("bytes tell the share of a phase, which has its share of the statement, and another phase's are dropped") {
    val progress = new StatementProgress("OPTIMIZE", "t")
    progress.enter(Phase.Footers, until = 0.05, files = 2)
    progress.enter(Phase.Rewriting, until = 1, files = 3, bytes = 1000)
    progress.done(Phase.Moving, files = 3, bytes = 1000)
    assert(progress.snapshot.fraction == 0.05 && progress.snapshot.files == 0)
    progress.done(Phase.Rewriting, files = 0, bytes = 500)
    assert(progress.snapshot.fraction == 0.05 + 0.95 / 2)
    assert(progress.snapshot.bytes == 500)
  }

  test("a plan that is made again neither ends the rewrite nor sets it back") {
    val progress = new StatementProgress("OPTIMIZE", "t")
    def plan(): Unit = {
      progress.enter(Phase.Footers, until = 0.05, files = 2)
      progress.done(Phase.Footers, files = 2)
    }
    plan()
    progress.enter(Phase.Rewriting, until = 0.98, files = 3, bytes = 1000)
    plan()
    assert(progress.snapshot.fraction == 0.05)
    progress.enter(Phase.Rewriting, until = 0.98, files = 3, bytes = 1000)
    progress.done(Phase.Rewriting, files = 0, bytes = 500)
    assert(math.abs(progress.snapshot.fraction - (0.05 + 0.93 / 2)) < 1e-9)
  }

  test("files count where bytes are not counted, and the time left is that of the phase at its speed") {
    var millis = 0L
    val progress = new StatementProgress("VACUUM", "t", () => millis * 1000000)
    millis = 10000
    progress.enter(Phase.Deleting, until = 1, files = 4)
    progress.done(Phase.Deleting, files = 1)
    millis += 900
    val shown = progress.snapshot
    assert((shown.step, shown.files, shown.totalFiles, shown.fraction) == (("deleting files", 1L, 4L, 0.25)))
    assert(shown.millisLeft.isEmpty)
    millis += 1100
    assert(progress.snapshot.millisLeft.contains(6000L))
    assert(progress.snapshot.millis == 12000)
  }

  test("the share stays between 0 and 1 and never falls, whatever is reported") {
    val report = for {
      phase <- Gen.oneOf(Phase.Planning, Phase.Footers, Phase.Rewriting, Phase.Moving, Phase.Deleting)
      enters <- Gen.oneOf(true, false)
      files <- Gen.choose(0L, 10L)
      bytes <- Gen.choose(0L, 100L)
      until <- Gen.choose(0d, 1d)
    } yield (phase, enters, files, bytes, until)
    forAll(Gen.listOf(report)) { reports =>
      val progress = new StatementProgress("OPTIMIZE", "t")
      val fractions = reports.map { case (phase, enters, files, bytes, until) =>
        if (enters) progress.enter(phase, until, files, bytes) else progress.done(phase, files, bytes.toDouble)
        progress.snapshot.fraction
      }
      assert(fractions == fractions.sorted)
      assert(fractions.forall(f => f >= 0 && f <= 1))
    }
  }

  test("a thread works for the statement that was set for it, and only during the work") {
    val progress = new StatementProgress("OPTIMIZE", "t")
    assert(StatementProgress.current.isEmpty)
    StatementProgress.during(Some(progress))(assert(StatementProgress.current.contains(progress)))
    assert(StatementProgress.current.isEmpty)
  }
}
