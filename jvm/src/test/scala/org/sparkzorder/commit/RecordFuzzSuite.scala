package org.sparkzorder.commit

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, Mutation}
import org.sparkzorder.commit.lock.Locking
import org.sparkzorder.commit.log.{History, HistorySettings, RecordJson}
import org.sparkzorder.commit.machine.Recovery
import org.sparkzorder.commit.upkeep.{Restore, Trash}
import org.sparkzorder.layout.LayoutSpec

/**
 * Records and locks that are damaged, or made to do damage, in tables at every stage of every
 * operation. Queries and statements end in time with a result or one of our errors, touch no file
 * outside the table, and lose no row.
 */
class RecordFuzzSuite extends AnyFunSuite {

  private val outside = Map[String, Node](
    "/outside" -> Dir,
    "/outside/kept.parquet" -> File(7L, 7L, Set(-1), Array.emptyByteArray),
    "/t2" -> Dir,
    "/t2/kept.parquet" -> File(7L, 7L, Set(-2), Array.emptyByteArray),
    "/kept.parquet" -> File(7L, 7L, Set(-3), Array.emptyByteArray)
  )

  /** Tables whose OPTIMIZE, RESTORE or VACUUM died, one for each call. */
  private lazy val stages: IndexedSeq[MemoryFs] = {
    val all = for {
      operation <- 0 to 2
      dirs <- Seq(Seq(""), Seq("p=1", "p=2"))
      k <- 1 to 220 by (if (operation == 2) 5 else 2)
    } yield {
      val t = new SmallTable(dirs)
      if (operation > 0) t.optimize()
      val ops = t.faulty(k, Fault.DieAfter)
      t.attempt("op-2")(operation match {
        case 0 => t.optimize(ops, "op-2")
        case 1 => t.restore(ops, 0, "op-2")
        case _ => t.vacuum(ops, "op-2")
      })
      t.fs.nodes ++= outside
      t.fs
    }
    all.filter(controls(_).nonEmpty)
  }

  private def controls(fs: MemoryFs): Seq[String] =
    fs.children("/t/_zorder").filter(fs.file(_).exists(_.bytes.nonEmpty))

  private def mutated(fs: MemoryFs, random: Random, mutation: Mutation): String = {
    val path = mutation.pick(controls(fs))
    val file = fs.file(path).get
    val isRecord = path.contains("/_v0")
    val bytes = random.nextInt(4) match {
      case 0                                         => mutation.ofBytes(file.bytes)
      case 1 if isRecord                             => resealed(mutation.ofBytes(unsealed(file.bytes)))
      case _ if isRecord || path.contains("/_lock-") => resealed(mutation.ofJson(unsealed(file.bytes)))
      case _                                         => mutation.ofBytes(file.bytes)
    }
    val name = random.nextInt(8) match {
      case 0 if isRecord => path.replaceFirst("\\.[a-z]+$", "." + mutation.pick(RecordState.all).suffix)
      case 1 if isRecord =>
        path.replaceFirst("_v0+\\d", mutation.pick(Seq("_v0000000009", "_v999999999999999999", "v0000000000")))
      case 2 => s"/t/_zorder/_lock-${random.nextInt()}"
      case _ => path
    }
    if (random.nextBoolean()) fs.nodes.remove(path)
    fs.nodes(name) =
      File(bytes.length.toLong, mutation.pick(Seq(file.time, 0L, -5L, Long.MaxValue, fs.clock)), Set.empty, bytes)
    s"$path as $name: ${new String(bytes, UTF_8).take(2000)}"
  }

  private def unsealed(json: Array[Byte]): Array[Byte] =
    new String(json, UTF_8).replaceFirst(",\"crc\":\\d+}$", "}").getBytes(UTF_8)

  private def resealed(json: Array[Byte]): Array[Byte] = if (json.isEmpty) json else RecordJson.sealing(json)

  private def attempt(step: => Unit): Boolean =
    try {
      step
      true
    } catch { case _: CommitException | _: IOException => false }

  test("mutated records and locks", InRest) {
    val random = new Random(20261121)
    val mutation = new Mutation(random)
    val total = Mutation.files(0.4)
    val started = System.nanoTime()
    var queries, statements = 0
    Mutation.silently((0 until total).foreach { n =>
      val t = new SmallTable(Nil)
      t.fs.copyOf(stages(random.nextInt(stages.length)))
      val before = t.rowsAnywhere
      val what = mutated(t.fs, random, mutation)
      withClue(s"file $n, $what: ") {
        val ops = t.ops
        val folder = TableFolder(t.root, ops)
        val settings = t.settings.copy(attempts = 1)
        if (attempt(Recovery.settled(folder, 0L, settings): Unit)) queries += 1
        assert(before.subsetOf(t.rowsAnywhere), "a query lost rows")
        val done = attempt {
          val lock = Locking.acquire(folder, "next", settings)
          try {
            Recovery.recoverUnder(folder, lock, settings)
            History.read(folder).foreach(e => e.record.layout.foreach(LayoutSpec.parse))
            attempt(Restore.plan(folder, lock, 0, restoresLost = true): Unit)
            assert(before.subsetOf(t.rowsAnywhere), "a statement lost rows")
            Trash.vacuum(folder, lock, Trash.expired(folder, _ => true, settings = HistorySettings(0, 1, whole = 1)))
          } finally lock.release()
        }
        if (done) statements += 1
        outside.foreach { case (path, node) => assert(t.fs.nodes.get(path).contains(node), path) }
        val keys = t.fs.nodes.keySet
        assert(keys.forall(k => k == "/t" || k.startsWith("/t/") || outside.contains(k)))
        ops.trace.foreach { call =>
          // Outside, only a side folder above and the folder of new versions may be looked at.
          if (!Set("status mem:/_zorder", "list mem:/t__zorder")(call)) call.split(" mem:").drop(1).foreach { path =>
            assert((path == "/t" || path.startsWith("/t/")) && !path.split('/').contains(".."), call)
          }
        }
      }
    })
    val seconds = (System.nanoTime() - started) / 1e9
    info(f"$total tables: $queries queries settled, $statements statements done; ${total / seconds}%.0f a second")
    assert(queries > total / 4 && statements > total / 4)
  }

  test("a lock file that is too large counts as one that cannot be read") {
    val t = new SmallTable(Seq(""))
    t.fs.put("/t/_zorder/_lock-x", Set.empty, 1L << 30)
    assert(t.recover().isEmpty)
    t.fs.clock += 10000000L
    assert(t.attempt(t.ops).isEmpty)
  }

  test("after the last possible version a statement fails, and the table stays as it was") {
    val t = new SmallTable(Seq(""))
    t.fs.put(s"/t/_zorder/_v${SideNames.MaxVersion}-1ms.json", Set.empty, 10L)
    val before = t.snapshot
    assert(t.attempt(t.ops).exists(_.getMessage.contains("no version comes after")))
    assert(t.snapshot == before && t.fs.visibleRows == t.allRows)
  }
}
