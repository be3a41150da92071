package org.sparkzorder.footer

import java.nio.file.Files

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.Repository

class WritersTableSuite extends AnyFunSuite {
  private val page = Repository.root.resolve("docs/writers.md")

  test("the page has the same table") {
    val rows = (WritersTable.parquet ++ WritersTable.orc).map { v =>
      val b = v.belief
      val flags = Seq(b.bounds, b.booleans, b.nulls, b.nullsOfFields, b.excludesNaN).map(if (_) "yes" else "no")
      s"| `${v.name}` | ${v.first} to ${v.last} | ${flags.mkString(" | ")} |"
    }
    assert(Files.readAllLines(page).asScala.filter(_.startsWith("| `")).toSeq == rows)
  }

  test("versions are compared as numbers, with both ends, and a name says its version in full, or counts as unknown") {
    val checked = CheckedVersions("w", "1.9.0", "1.10.2", Belief(nulls = true))
    for (version <- Seq("1.9.0", "1.9.15", "1.10.0", "1.10.2")) assert(checked.include(version), version)
    for (version <- Seq("1.8.99", "0.9.9", "1.10.3", "1.11.0", "2.0.0")) assert(!checked.include(version), version)
    for (version <- Seq("ORC Java", "ORC Java ", "ORC Java 1.9", "ORC Java 2.3.0-SNAPSHOT", "Presto 1.9.0", "", null))
      assert(WritersTable.ofOrc(version) == Belief(), s"$version")
    assert(WritersTable.ofOrc("ORC Java 2.3.0").bounds)
  }
}
