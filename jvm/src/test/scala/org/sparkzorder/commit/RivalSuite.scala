package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

/** Somebody else writes to the table right before any call of OPTIMIZE. */
class RivalSuite extends AnyFunSuite {
  import RivalSuite.Rival

  private val fresh = Set(900, 901)

  private def without(table: SmallTable, gone: Set[Int]): Seq[Int] = table.allRows.filterNot(gone)
  private def and(rows: Seq[Int]): Seq[Int] = (rows ++ fresh).sorted

  private def replace(input: Int, length: Long): SmallTable => Seq[Seq[Int]] = table => {
    val name = table.inputNames(input)
    val seen = table.fs.file(s"/t/$name").isDefined
    table.fs.put(s"/t/$name", fresh, length)
    val replaced = and(without(table, table.rows(name)))
    // When the old one was retired already, there was nothing to replace: the file is new.
    if (seen) Seq(replaced) else Seq(replaced, and(table.allRows))
  }

  private def rivals(inputs: Int): Seq[Rival] = Seq(
    Rival(
      "append",
      table => {
        table.fs.put(s"/t/${table.inputNames.head.replace("part", "added")}", fresh, 10L)
        Seq(and(table.allRows))
      }
    ),
    Rival(
      "overwrite of all",
      table => {
        table.fs.deleteAll("/t")
        table.fs.put(s"/t/${table.inputNames.last.replace("part", "over")}", fresh, 10L)
        Seq(fresh.toSeq.sorted)
      }
    ),
    Rival(
      "overwrite of one folder",
      table => {
        val dir = table.dirs.last
        val gone = table.inputNames.filter(n => TableFolder.parent(n) == dir).flatMap(table.rows).toSet
        table.fs.deleteAll(s"/t/$dir".stripSuffix("/"))
        table.fs.put(s"/t/${table.inputNames.last.replace("part", "over")}", fresh, 10L)
        Seq(and(without(table, gone)))
      }
    )
  ) ++ (0 until inputs).flatMap { i =>
    Seq(
      Rival(
        s"delete of input $i",
        table => {
          val name = table.inputNames(i)
          val seen = table.fs.nodes.remove(s"/t/$name").isDefined
          Seq(if (seen) without(table, table.rows(name)) else table.allRows)
        }
      ),
      Rival(s"input $i replaced by one of another length", replace(i, 77L)),
      Rival(s"input $i replaced by one of the same length", replace(i, 100L))
    )
  }

  private def lengthOf(dirs: Seq[String]): Int = {
    val table = new SmallTable(dirs)
    val ops = new MemoryOps(table.fs)
    table.optimize(ops)
    ops.calls
  }

  for (dirs <- Seq(Seq("p=1", "p=2"), Seq("")); rival <- rivals(3 * dirs.length)) {
    val name = s"folders ${dirs.mkString("'", "', '", "'")}: ${rival.name}"

    test(s"$name, at any call") {
      for (k <- 1 to lengthOf(dirs)) {
        val table = new SmallTable(dirs)
        var legal: Seq[Seq[Int]] = Nil
        val ops = new MemoryOps(table.fs, other = { case `k` => legal = rival.act(table) })
        val end = table.attempt(ops)
        withClue(s"before call $k ${ops.trace(k - 1)}, ended with $end: ") {
          assert(table.recover(new MemoryOps(table.fs)).isEmpty)
          assert(legal.contains(table.fs.visibleRows))
          table.nextStatement()
          assert(legal.contains(table.fs.visibleRows))
          assert(table.litter.isEmpty)
          assert(!end.exists(_.isInstanceOf[IncompletePublishException]))
        }
      }
    }

    test(s"$name, at any call, and death at any later one") {
      val calls = lengthOf(dirs)
      for (k <- 1 to calls; m <- (if (dirs.length > 1) k + k % 7 to calls by 7 else k to calls)) {
        val table = new SmallTable(dirs)
        var legal: Seq[Seq[Int]] = Nil
        val fault = if ((k + m) % 2 == 0) Fault.DieBefore else Fault.DieAfter
        val ops = new MemoryOps(table.fs, m, fault, { case `k` => legal = rival.act(table) })
        val end = table.attempt(ops)
        withClue(s"before call $k ${ops.trace(k - 1)}, $fault at $m ${ops.trace.lastOption}, ended with $end: ") {
          assert(legal.contains(table.viewedRows()) || !table.isPublishing)
          assert(table.recover(new MemoryOps(table.fs)).isEmpty)
          assert(legal.contains(table.fs.visibleRows))
          table.nextStatement()
          assert(legal.contains(table.fs.visibleRows))
          // Overwritten while folders were being made, then dead: an empty hidden folder stays, which nobody knows of
          // any more.
          assert(table.litter.forall(table.fs.file(_).isEmpty))
        }
      }
    }

    test(s"$name, after death at any call") {
      for (k <- 1 to lengthOf(dirs)) {
        val table = new SmallTable(dirs)
        val ops = new MemoryOps(table.fs, k, Fault.DieAfter)
        table.attempt(ops)
        val legal = rival.act(table)
        withClue(s"death at $k ${ops.trace.lastOption}: ") {
          assert(table.recover(new MemoryOps(table.fs)).isEmpty)
          assert(legal.contains(table.fs.visibleRows))
          table.nextStatement()
          assert(table.litter.isEmpty)
        }
      }
    }
  }

  test("a second OPTIMIZE is refused while the first lives") {
    for (k <- 1 to lengthOf(Seq("p=1"))) {
      val table = new SmallTable(Seq("p=1"))
      var refused: Option[Boolean] = None
      val ops = new MemoryOps(
        table.fs,
        other = { case `k` =>
          val locked = table.fs.children("/t/_zorder").exists(_.contains("lock-"))
          val second = new MemoryOps(table.fs)
          val got =
            try { Locking.acquire(TableFolder(table.root, second), "op-2", table.settings).release(); true }
            catch { case _: ConcurrentOperationException => false }
          assert(got != locked)
          refused = Some(!got)
        }
      )
      withClue(s"before call $k: ") {
        assert(table.attempt(ops).isEmpty)
        assert(refused.isDefined)
        assert(table.fs.visibleRows == table.allRows)
        assert(table.litter.isEmpty)
      }
    }
  }
}

private object RivalSuite {

  /** What a rival does, and which rows may be the result: asked at the moment when he does it. */
  final case class Rival(name: String, act: SmallTable => Seq[Seq[Int]])
}
