package org.sparkzorder.commit

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/**
 * Random statements on a table that is published through the catalog, between appends to any of its
 * folders, by whoever knows an older location, and locations that go back.
 */
class CatalogHistoriesSuite extends AnyFunSuite {

  private val Histories = if (sys.env.contains("EXHAUSTIVE")) 100000 else 1000
  private val Steps = 16

  for { slot <- Seq(CatalogPartition.Table, CatalogPartition(Seq("p" -> "1"))); dies <- Seq(false, true) }
    test(s"statements${if (dies) " that may die" else ""}, appends to any folder and locations that go back: $slot") {
      var (clear, unclear) = (0, 0)
      for (seed <- 1 to Histories) withClue(s"seed $seed: ") {
        val history = new CatalogHistoriesSuite.RandomHistory(slot, dies, new Random(seed))
        val ended = (1 to Steps).takeWhile(_ => history.step()).size
        if (ended == Steps) clear += 1 else unclear += 1
      }
      info(s"$clear histories, and $unclear more that became unclear")
      assert(clear > Histories / 2)
    }
}

private object CatalogHistoriesSuite {

  private val MostCalls = 150

  private final class RandomHistory(slot: CatalogPartition, dies: Boolean, random: Random) {
    private val table = new MemoryCatalogTable(Seq(slot))
    private var expected = table.allRows
    private var folders = Vector(table.locations(slot))
    private var ids = 0
    private var trace = Vector.empty[String]

    private def fresh(): Int = {
      ids += 1
      ids
    }

    /** One more step. False when the table is unclear from now on. */
    def step(): Boolean = {
      val id = s"op-${fresh()}"
      val ops =
        if (dies && random.nextInt(3) == 0)
          new MemoryOps(
            table.fs,
            1 + random.nextInt(MostCalls),
            if (random.nextBoolean()) Fault.DieBefore else Fault.DieAfter
          )
        else new MemoryOps(table.fs)
      val failed: Option[Throwable] = random.nextInt(10) match {
        case 0 | 1 | 2 => did("OPTIMIZE")(table.attempt(id)(table.optimize(ops, id, keeps = random.nextBoolean())))
        case 3 | 4     =>
          val newest = History.read(table.folder(new MemoryOps(table.fs))).headOption.fold(0L)(_.record.version)
          val to = random.nextLong(newest + 1)
          did(s"RESTORE $to")(table.attempt(id)(table.restore(ops, id, to)))
        case 5 => did("VACUUM")(table.attempt(id)(table.vacuum(ops, id)))
        case 6 =>
          val to = folders(random.nextInt(folders.size))
          // Nobody puts a location back to a folder that VACUUM has emptied, but by mistake.
          if (table.dataIn(to).nonEmpty) did(s"SET LOCATION $to") { table.locations(slot) = to; None } else None
        case _ =>
          val folder = folders(random.nextInt(folders.size))
          val row = 9000 + fresh()
          did(s"append $row to $folder") {
            table.append(folder, s"late-$row", Set(row))
            expected = (expected :+ row).sorted
            None
          }
      }
      folders = (folders :+ table.locations(slot)).distinct
      val seen = table.seenRows
      // A refused RESTORE changes nothing. Nor does a statement on a table that is unclear.
      assert(
        failed.forall {
          case _: NotRestorableException | _: Died => true
          case _                                   => seen.isEmpty
        },
        trace.mkString("\n")
      )
      assert(seen.forall(_ == expected), s"$seen in place of $expected after\n${trace.mkString("\n")}")
      // Only VACUUM deletes rows that an earlier folder lacks. What a dead owner left may be unclear as well.
      assert(seen.isDefined || dies || trace.contains("VACUUM"), s"unclear after\n${trace.mkString("\n")}")
      seen.isDefined
    }

    private def did(what: String)(work: => Option[Throwable]): Option[Throwable] = {
      trace :+= what
      val failed = work
      failed.foreach(e => trace :+= s"  $e")
      failed
    }
  }
}
