package org.sparkzorder.commit

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.storage.{ObjectFileOps, StoreProbe}

class StoreProbeSuite extends AnyFunSuite {

  /** A client that got no answer sends the request of this number again. */
  private class Repeating(shared: MemoryStore, number: Int) extends MemoryClient(shared) {
    private var writes = 0

    private def twice(write: => Option[String]): Option[String] = {
      writes += 1
      if (writes == number) write
      write
    }
    override def putIfAbsent(path: Path, bytes: Array[Byte]): Option[String] = twice(super.putIfAbsent(path, bytes))
    override def putIfMatch(path: Path, bytes: Array[Byte], etag: String): Option[String] =
      twice(super.putIfMatch(path, bytes, etag))
  }

  /** A store that can be switched to ignore a condition. */
  private class Deaf extends MemoryClient(new MemoryStore) {
    var ignores = true
    override def putIfAbsent(path: Path, bytes: Array[Byte]): Option[String] =
      if (ignores) Some(shared.put(path.toUri.getPath, bytes)) else super.putIfAbsent(path, bytes)
  }

  private def lacks(client: MemoryClient): Option[String] =
    StoreProbe.lacks(TableFolder(new Path("mem:/t"), new ObjectFileOps(client), threads = 1))

  test("a write whose answer was lost is not taken for a store that lacks conditions") {
    for (number <- 0 to 4) {
      val shared = new MemoryStore
      assert(lacks(new Repeating(shared, number)).isEmpty, s"write $number is sent twice")
      assert(shared.objects.isEmpty)
    }
  }

  test("a store that ignores conditions is asked again, and one that keeps them is not") {
    val deaf = new Deaf
    assert(lacks(deaf).exists(_.contains("If-None-Match")))
    deaf.ignores = false
    assert(lacks(deaf).isEmpty)
    val before = deaf.calls
    assert(lacks(deaf).isEmpty)
    assert(deaf.calls == before)
  }
}
