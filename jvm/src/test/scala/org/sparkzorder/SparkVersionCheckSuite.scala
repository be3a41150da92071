package org.sparkzorder

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.shim.SparkMinor

class SparkVersionCheckSuite extends AnyFunSuite {

  test("a jar fits its own minor version, whatever patch and vendor") {
    val minor = SparkMinor.compiledFor
    assert(Seq(
      minor,
      s"$minor.0",
      s"$minor.17",
      s"$minor.0-SNAPSHOT",
      s"$minor.1-amzn-0"
    ).forall(SparkVersionCheck.fits))
  }

  test("it fits no other") {
    val minor = SparkMinor.compiledFor
    assert(!Seq("3.5.1", s"${minor}1.0", s"1$minor.0", "5", "", "unknown").exists(SparkVersionCheck.fits))
  }
}
