package org.sparkzorder.command

import org.scalacheck.Gen

import org.sparkzorder.PropertySuite
import org.sparkzorder.progress.ProgressSnapshot

class ProgressTextSuite extends PropertySuite(10) {
  private val half = ProgressSnapshot(
    operation = "OPTIMIZE",
    table = "t",
    step = "writing",
    files = 12,
    totalFiles = 24,
    bytes = 600L << 20,
    totalBytes = 1230L << 20,
    fraction = 0.456,
    millis = 41200,
    millisLeft = Some(50000)
  )

  test("a line of the log, also without what is not known, and a bar of 80 columns") {
    assert(ProgressText.line(half) ==
      "OPTIMIZE t: writing, 45 %, 12 of 24 files, 600.0 MiB of 1.2 GiB, 41 s, about 50 s left")
    val planning = half.copy(step = "planning", totalFiles = 0, totalBytes = 0, fraction = 0, millisLeft = None)
    assert(ProgressText.line(planning) == "OPTIMIZE t: planning, 0 %, 41 s")
    assert(ProgressText.bar(half, 80) ==
      "OPTIMIZE t [======>        ] 45 % writing, 12/24 files, 600/1230 MiB, 50 s left")
  }

  test("a bar fits its width, whatever it has to say") {
    val snapshots = for {
      name <- Gen.alphaStr
      files <- Gen.choose(0L, 1000000L)
      bytes <- Gen.choose(0L, Long.MaxValue)
      fraction <- Gen.choose(0d, 1d)
      left <- Gen.option(Gen.choose(0L, 100000000L))
      width <- Gen.choose(40, 120)
      shown = half.copy(table = name, fraction = fraction, millisLeft = left)
    } yield shown.copy(files = files / 2, totalFiles = files, bytes = bytes / 2, totalBytes = bytes) -> width
    forAll(snapshots) { case (snapshot, width) =>
      val bar = ProgressText.bar(snapshot, width)
      assert(bar.length < width && bar.startsWith("OPTIMI"))
    }
  }
}
