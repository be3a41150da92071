package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest

/**
 * Old and new files get other times while they are exchanged, as by `touch` or by a copy without times. Nothing tells
 * them from files that others have written. So rows may be there twice, but then an error tells of it, and none is lost.
 */
@TestRest
class TouchedSuite extends AnyFunSuite with Explorer {
  private val all = new SmallTable(Scene.Two).allRows

  private def isNew(name: String): Boolean = name.contains("new-")

  private def ofFolder(table: SmallTable): Seq[String] = table.files.filter(_.startsWith("p=1/"))

  private def firsts(table: SmallTable): Seq[String] = {
    val (made, old) = ofFolder(table).partition(isNew)
    old.take(1) ++ made.take(1)
  }

  private def touch(table: SmallTable, files: Seq[String]): Unit = files.foreach { n =>
    val file = table.fs.file(s"/t/$n").get
    table.fs.put(s"/t/$n", file.rows, file.length)
  }

  /** Whether somebody was told to look at the rows. */
  private def tells(e: Throwable): Boolean =
    e.isInstanceOf[RowsUnclearException] || e.isInstanceOf[FoldersUnclearException]

  private def judge(table: SmallTable, ends: Seq[Throwable]): Unit = {
    val recovered = table.recover()
    if (recovered.exists(_.isInstanceOf[FoldersUnclearException])) table.recover(keep = Some(Keep.New))
    table.nextStatement()
    val rows = table.fs.visibleRows
    assert(rows.distinct == all)
    assert(rows == all || (ends ++ recovered).exists(tells))
    ()
  }

  for {
    (what, files) <- Seq("all files of a folder" -> ofFolder _, "an old file and a new one" -> firsts _)
    statement <- Seq(Statement.optimize, Statement.restore)
    scene = new Scene(statement, Scene.Two)
  } {
    test(s"$what are touched at any moment of ${statement.name}") {
      meeting(scene)(table => touch(table, files(table)))((table, end) => judge(table, end.toSeq))
    }

    test(s"$what are touched after ${statement.name} died at any moment") {
      failing(scene, Deaths) { (table, end) =>
        touch(table, files(table))
        judge(table, end.toSeq)
      }
    }
  }
}
