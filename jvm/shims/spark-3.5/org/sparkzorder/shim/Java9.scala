package org.sparkzorder.shim

import java.io.InputStream
import java.lang.management.ManagementFactory
import java.util
import java.util.Optional
import java.util.stream.IntStream

/** What the sources use of newer Javas and Java 8 lacks. `build.sbt` imports it into each source. */
object Java9 {

  /** The methods of `java.util.Arrays` that the sources use, some of which are new. */
  object Arrays {
    def mismatch(a: Array[Byte], b: Array[Byte]): Int = {
      val both = math.min(a.length, b.length)
      var i = 0
      while (i < both && a(i) == b(i)) i += 1
      if (i == both && a.length == b.length) -1 else i
    }

    def compareUnsigned(a: Array[Byte], b: Array[Byte]): Int = compareUnsigned(a, 0, a.length, b, 0, b.length)

    def compareUnsigned(a: Array[Byte], aFrom: Int, aTo: Int, b: Array[Byte], bFrom: Int, bTo: Int): Int = {
      val both = math.min(aTo - aFrom, bTo - bFrom)
      var i = 0
      while (i < both && a(aFrom + i) == b(bFrom + i)) i += 1
      if (i == both) (aTo - aFrom) - (bTo - bFrom) else (a(aFrom + i) & 0xff) - (b(bFrom + i) & 0xff)
    }

    def equals(a: Array[Byte], aFrom: Int, aTo: Int, b: Array[Byte], bFrom: Int, bTo: Int): Boolean =
      compareUnsigned(a, aFrom, aTo, b, bFrom, bTo) == 0

    def equals(a: Array[Byte], b: Array[Byte]): Boolean = util.Arrays.equals(a, b)
    def equals(a: Array[Int], b: Array[Int]): Boolean = util.Arrays.equals(a, b)
    def equals(a: Array[Long], b: Array[Long]): Boolean = util.Arrays.equals(a, b)
  }

  /** Where a system has no folder /proc, Java 8 cannot tell whether another process is alive: it may be. */
  object ProcessHandle {
    final class Info { def startInstant: Optional[String] = Optional.empty[String] }
    final class Process(number: Long) {
      def pid(): Long = number; def isAlive: Boolean = true; def info: Info = new Info
    }

    def current(): Process = new Process(ManagementFactory.getRuntimeMXBean.getName.takeWhile(_ != '@').toLong)
    def of(pid: Long): Optional[Process] = Optional.of(new Process(pid))
  }

  implicit class InputStream9(private val in: InputStream) extends AnyVal {
    def readNBytes(n: Int): Array[Byte] = {
      val bytes = new Array[Byte](n)
      var read = 0
      var more = 0
      while (read < n && more >= 0) {
        more = in.read(bytes, read, n - read)
        if (more > 0) read += more
      }
      util.Arrays.copyOf(bytes, read)
    }
  }

  implicit class IntStream9(private val stream: IntStream) extends AnyVal {
    def takeWhile(keep: Int => Boolean): IntStream = util.Arrays.stream(stream.toArray.takeWhile(keep))
  }
}
