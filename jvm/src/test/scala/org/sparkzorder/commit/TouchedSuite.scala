package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest

/**
 * Old and new files get other times while they are exchanged, as by `touch` or by a copy without times. Nothing
 * tells them from files that others have written. So rows may be there twice, but then an error tells of it, and
 * none is lost.
 *
 * Or somebody puts an older copy of the table's side folder back: the one of any moment of an operation that has long
 * ended. Newer files of the side folder stay beside it, or are gone.
 */
@TestRest
class TouchedSuite extends AnyFunSuite with Explorer {
  private val all = new SmallTable(Scene.Two).allRows
  private def ofFolder(table: SmallTable): Seq[String] = table.files.filter(_.startsWith("p=1/"))

  private def firsts(table: SmallTable): Seq[String] = {
    val (made, old) = ofFolder(table).partition(_.contains("new-"))
    old.take(1) ++ made.take(1)
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
      meeting(scene)(table => table.touch(files(table)))((table, end) => judge(table, end.toSeq))
    }

    test(s"$what are touched after ${statement.name} died at any moment") {
      failing(scene, Deaths) { (table, end) =>
        table.touch(files(table))
        judge(table, end.toSeq)
      }
    }
  }

  private val later: Seq[(String, SmallTable => Unit)] = Seq(
    "nothing" -> (_ => ()),
    "OPTIMIZE" -> (_.optimize(id = "op-2")),
    "RESTORE" -> (_.restore(to = 0, id = "op-2")),
    "OPTIMIZE and VACUUM" -> { t =>
      t.optimize(id = "op-2")
      t.vacuum(id = "op-3")
    }
  )

  for {
    scene <- Seq(Statement.optimize, Statement.restore).flatMap(_.onBoth)
    (name, follow) <- later
    isMerged <- Seq(true, false)
  } test(s"the old side folder of ${scene.name} comes back after $name, newer files stay: $isMerged") {
    var old = Map.empty[String, Node]
    meeting(scene)(table => old = table.fs.below("/t/_zorder").map(p => p -> table.fs.nodes(p)).toMap) { (table, end) =>
      assert(end.isEmpty)
      follow(table)
      val rows = table.fs.visibleRows
      if (!isMerged) table.fs.below("/t/_zorder").foreach(table.fs.nodes.remove)
      table.fs.nodes ++= old
      assert(table.recover().forall(e => SmallTable.tornFolder(e).isDefined && !isMerged))
      // Without the newer history nothing tells that the operation has ended.
      if (!isMerged) assert(rows.toSet.subsetOf(table.rowsAnywhere))
      else {
        assert(table.fs.visibleRows == rows)
        table.optimize(id = "op-9")
        assert(table.fs.visibleRows == rows)
      }
    }
  }
}
