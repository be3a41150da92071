package org.sparkzorder.indexing

import org.apache.hadoop.fs.{FileStatus, Path}
import org.scalatest.funsuite.AnyFunSuite

class PastTimeSuite extends AnyFunSuite {

  private def file(time: Long) = new FileStatus(1, false, 1, 1, time, new Path("/f"))

  private class Clock(var now: Long) {
    val past = new PastTime(() => now, ms => { assert(ms > 0); now += ms })
  }

  test("there is no wait for an old time stamp") {
    val clock = new Clock(1000000123)
    assert(clock.past.wait(Seq(file(1000000000), file(999990007))) == Seq(false, true) || clock.now > 1000000123)
    val later = new Clock(1000010000)
    assert(later.past.wait(Seq(file(1000000000), file(999990007))) == Seq(true, true) && later.now == 1000010000)
    assert(later.past.wait(Nil).isEmpty)
  }

  test("the wait for a young time stamp is a tick, or two seconds for one of whole seconds") {
    val ticks = new Clock(1000000123)
    assert(ticks.past.wait(Seq(file(1000000121))) == Seq(true) && ticks.now == 1000000142)
    val seconds = new Clock(1000000123)
    assert(seconds.past.wait(Seq(file(1000000000))) == Seq(true) && seconds.now == 1000002001)
  }

  test("there is no wait for a time stamp far in the future, but still for others") {
    val clock = new Clock(1000000123)
    assert(clock.past.wait(Seq(file(2000000001), file(1000000121))) == Seq(false, true))
    assert(clock.now == 1000000142)
  }
}
