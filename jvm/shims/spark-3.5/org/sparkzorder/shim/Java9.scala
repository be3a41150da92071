package org.sparkzorder.shim

import java.io.InputStream
import java.lang.management.ManagementFactory
import java.nio.file.{Files, Paths}
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

  /**
   * Java's own class where there is one. Java 8 has /proc instead: a process that it does not show is gone, if it shows
   * those of others at all. Where it does not, or a system has none, another process may be alive.
   */
  object ProcessHandle {
    final class Info(val startInstant: Optional[String])

    final class Process(number: Long, val isAlive: Boolean, start: Optional[String]) {
      def pid(): Long = number
      def info: Info = new Info(start)
    }

    private val ofJava: Option[Class[_]] =
      try Some(Class.forName("java.lang.ProcessHandle"))
      catch { case _: ClassNotFoundException => None }

    private def perhaps(pid: Long): Process = new Process(pid, isAlive = true, Optional.empty[String])

    def current(): Process = perhaps(ManagementFactory.getRuntimeMXBean.getName.takeWhile(_ != '@').toLong)

    def of(pid: Long): Optional[Process] = ofJava match {
      case Some(java) =>
        val found = java.getMethod("of", classOf[Long]).invoke(null, Long.box(pid)).asInstanceOf[Optional[AnyRef]]
        if (found.isPresent) Optional.of(process(java, pid, found.get)) else Optional.empty[Process]
      case None =>
        val others = Files.isReadable(Paths.get("/proc/1/stat"))
        if (others && !Files.exists(Paths.get(s"/proc/$pid"))) Optional.empty[Process] else Optional.of(perhaps(pid))
    }

    private def process(java: Class[_], pid: Long, handle: AnyRef): Process = {
      val isAlive = java.getMethod("isAlive").invoke(handle).asInstanceOf[Boolean]
      val info = java.getMethod("info").invoke(handle)
      val start = Class.forName("java.lang.ProcessHandle$Info").getMethod("startInstant").invoke(info)
      val text = start.asInstanceOf[Optional[AnyRef]]
      new Process(pid, isAlive, if (text.isPresent) Optional.of(text.get.toString) else Optional.empty[String])
    }
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
