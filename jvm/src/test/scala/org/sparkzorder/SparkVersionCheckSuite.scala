package org.sparkzorder

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.shim.SparkMinor

class SparkVersionCheckSuite extends AnyFunSuite {
  private val minor = SparkMinor.compiledFor

  test("a jar fits its own minor version, whatever patch and vendor, and no other") {
    val own = minor +: Seq(".0", ".17", ".0-SNAPSHOT", ".1-amzn-0").map(minor + _)
    assert(own.forall(SparkVersionCheck.fits))
    assert(!Seq("3.5.1", s"${minor}1.0", s"1$minor.0", "5", "", "unknown").exists(SparkVersionCheck.fits))
  }
}
