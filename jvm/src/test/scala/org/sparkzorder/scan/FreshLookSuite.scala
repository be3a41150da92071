package org.sparkzorder.scan

import java.io.{FileNotFoundException, IOException}
import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path => LocalPath}
import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, FileSystem, FilterFileSystem, LocalFileSystem, Path}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.skipping.SkippingErrors

class FreshLookSuite extends AnyFunSuite {
  import FreshLookSuite._

  private val local = FileSystem.getLocal(new Configuration())

  private def withFiles(n: Int)(test: (Path, Seq[FileStatus]) => Unit): Unit = {
    val dir = Files.createTempDirectory("fresh look")
    (0 until n).foreach(i => Files.write(dir.resolve(f"f%%$i%05d"), Array.fill[Byte](10)(0)))
    test(new Path(dir.toUri), local.listStatus(new Path(dir.toUri)).toSeq)
  }

  private def on(file: FileStatus): LocalPath = java.nio.file.Paths.get(file.getPath.toUri.getPath)

  private def lookingAt(fs: FileSystem) =
    new FileRevalidation(_ => fs, (folder, e) => SkippingErrors.warn(Seq(folder), e))

  private def changed(fs: FileSystem, out: Seq[FileStatus], listed: Int): Set[Path] =
    lookingAt(fs).changed(out.groupBy(_.getPath.getParent).map { case (f, o) =>
      LeftOut(f, o, listed)
    }.toSeq).map(_.getPath).toSet

  for ((name, isLocal) <- Seq("a local disk" -> true, "other storage" -> false)) {
    def storage: FileSystem = if (isLocal) local else new Remote(local)
    test(s"on $name, what has another length or time or is gone, as with its folder, has changed, and nothing else") {
      withFiles(2100) { (_, files) =>
        val fs = storage
        assert(changed(fs, files, files.size).isEmpty)
        Files.write(on(files(3)), Array.fill[Byte](11)(0))
        Files.setLastModifiedTime(on(files(3)), FileTime.fromMillis(files(3).getModificationTime))
        Files.setLastModifiedTime(on(files(2099)), FileTime.fromMillis(files(2099).getModificationTime + 1))
        Files.delete(on(files(700)))
        assert(changed(fs, files, files.size) == Set(3, 700, 2099).map(files(_).getPath))
        assert(changed(fs, files.take(3), files.size).isEmpty)
        assert(lookingAt(fs).changedOf(files).map(_.getPath).toSet == Set(3, 700, 2099).map(files(_).getPath))
      }
      withFiles(5) { (dir, files) =>
        local.delete(dir, true)
        assert(changed(storage, files, files.size) == files.map(_.getPath).toSet)
      }
    }
  }

  test("one listing for each folder, or a look at each file where that is less") {
    withFiles(20) { (_, files) =>
      val remote = new Remote(local)
      assert(changed(remote, files, 20).isEmpty)
      assert((remote.listings.get, remote.looks.get) == (1, 0))
      assert(changed(remote, files.take(1), 20).isEmpty)
      assert((remote.listings.get, remote.looks.get) == (1, 1))
      // A hundred requests for a listing, or twenty looks.
      assert(changed(remote, files, 100000).isEmpty)
      assert((remote.listings.get, remote.looks.get) == (1, 21))
    }
  }

  test("what cannot be looked at is read, and that is counted") {
    withFiles(20) { (_, files) =>
      val before = SkippingErrors.total
      val denied = new Remote(local) {
        override def listStatus(path: Path): Array[FileStatus] = throw new IOException("not allowed")
      }
      assert(changed(denied, files, 20) == files.map(_.getPath).toSet)
      assert(SkippingErrors.total == before + 1)
    }
  }
}

private object FreshLookSuite {

  /** Not a local disk by its class, and counts what it is asked. */
  class Remote(fs: LocalFileSystem) extends FilterFileSystem(fs) {
    val listings = new AtomicInteger
    val looks = new AtomicInteger

    override def listStatus(path: Path): Array[FileStatus] = {
      listings.incrementAndGet()
      if (!fs.exists(path)) throw new FileNotFoundException(path.toString)
      super.listStatus(path)
    }

    override def getFileStatus(path: Path): FileStatus = {
      looks.incrementAndGet()
      super.getFileStatus(path)
    }
  }
}
