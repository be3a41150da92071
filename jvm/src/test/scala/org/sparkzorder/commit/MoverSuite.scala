package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}
import java.nio.file.{Files, Path => LocalPath}
import java.util.Comparator

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, FileStatus, FileSystem, FilterFileSystem, Options, Path}
import org.apache.hadoop.fs.RawLocalFileSystem
import org.apache.hadoop.hdfs.DistributedFileSystem
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.storage.HadoopFileOps

/** Many files of a folder move to the trash with few lookups, and none overwrites another. */
class MoverSuite extends AnyFunSuite {
  import MoverSuite._

  private def withFolder(test: LocalPath => Unit): Unit = {
    val dir = Files.createTempDirectory("mover")
    try {
      Files.createDirectories(dir.resolve(Trash))
      test(dir)
    } finally
      Using.resource(Files.walk(dir))(_.sorted(Comparator.reverseOrder[LocalPath]()).forEach(f => Files.delete(f)))
  }

  private def names(dir: LocalPath): Set[String] =
    Using.resource(Files.list(dir))(_.iterator.asScala.filter(Files.isRegularFile(_)).map(_.getFileName.toString).toSet)

  private def path(file: LocalPath) = new Path(file.toUri)

  private def mover(fs: FileSystem, dir: LocalPath): (String, String) => Unit = {
    val move = new HadoopFileOps(fs).mover(path(dir), path(dir.resolve(Trash)))
    (name, to) => move(path(dir.resolve(name)), path(dir.resolve(Trash).resolve(to)))
  }

  private def server(): FileSystem = {
    val made = new Server
    made.initialize(java.net.URI.create("file:///"), new Configuration())
    made
  }

  for (
    (name, fs) <- Seq("a local disk" -> FileSystem.getLocal(new Configuration()), "another file system" -> server())
  ) {
    test(s"on $name: a file is moved, and a missing file or a taken name is an error") {
      withFolder { dir =>
        Seq("a", "b", "c").foreach(n => Files.writeString(dir.resolve(n), n))
        Files.writeString(dir.resolve(s"$Trash/c.retired"), "another")
        val move = mover(fs, dir)
        move("a", "a.retired")
        assertThrows[FileNotFoundException](move("a", "a2.retired"))
        val taken = intercept[IOException](move("c", "c.retired"))
        assert(!taken.isInstanceOf[FileNotFoundException])
        assert(names(dir) == Set("b", "c") && names(dir.resolve(Trash)) == Set("a.retired", "c.retired"))
        assert(Files.readString(dir.resolve(s"$Trash/c.retired")) == "another")
      }
    }

    test(s"on $name: a missing trash is an error, and is not made") {
      withFolder { dir =>
        Files.writeString(dir.resolve("a"), "a")
        val move = mover(fs, dir)
        Files.delete(dir.resolve(Trash))
        assertThrows[FileNotFoundException](mover(fs, dir))
        if (name == "a local disk") assertThrows[FileNotFoundException](move("a", "a.retired"))
        assert(names(dir) == Set("a") || name != "a local disk")
      }
    }
  }

  test("on a local disk the checksum file moves as well, and an old one in the trash is deleted") {
    withFolder { dir =>
      Seq("a", "b", ".a.crc").foreach(n => Files.writeString(dir.resolve(n), n))
      Files.writeString(dir.resolve(s"$Trash/.b.retired.crc"), "old")
      val move = mover(FileSystem.getLocal(new Configuration()), dir)
      Seq("a", "b").foreach(n => move(n, s"$n.retired"))
      assert(names(dir).isEmpty)
      assert(names(dir.resolve(Trash)) == Set("a.retired", ".a.retired.crc", "b.retired"))
    }
  }

  test("HDFS gets one call for each file, and refuses by itself") {
    val hdfs = new Hdfs
    val ops = new HadoopFileOps(hdfs)
    val (from, to) = (new Path("hdfs://h/t/a"), new Path("hdfs://h/t/_zorder/trash/_v1-x/a.retired"))
    ops.rename(from, to)
    ops.mover(from.getParent, to.getParent)(from, to)
    assert(hdfs.calls.toSeq == Seq.fill(2)(s"rename $from $to NONE"))
    hdfs.refuses = Some(new FileAlreadyExistsException("it exists"))
    assert(!intercept[IOException](ops.rename(from, to)).isInstanceOf[FileNotFoundException])
    hdfs.refuses = Some(new FileNotFoundException("no such folder"))
    assertThrows[FileNotFoundException](ops.mover(from.getParent, to.getParent)(from, to))
  }
}

private object MoverSuite {
  private val Trash = "_zorder/trash/_v0000000001-op"

  /** A local file system that we do not take for one, because its class is another. */
  private final class Server extends FilterFileSystem(new RawLocalFileSystem)

  private final class Hdfs extends DistributedFileSystem {
    val calls: mutable.Buffer[String] = mutable.Buffer.empty
    var refuses: Option[IOException] = None

    override def rename(src: Path, dst: Path, options: Options.Rename*): Unit = {
      calls += s"rename $src $dst ${options.mkString(" ")}"
      refuses.foreach(throw _)
    }

    override def getFileStatus(path: Path): FileStatus = throw new AssertionError(s"a look at $path")
  }
}
