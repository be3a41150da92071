package org.sparkzorder.commit

import java.nio.file.{Files, Paths}

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.storage.LocalMounts

class LocalMountsSuite extends AnyFunSuite {

  test("a folder where a file system is mounted is told from others, also through a link") {
    assume(Files.isDirectory(Paths.get("/proc/self")), "only Linux has /proc")
    val folder = Files.createTempDirectory("zorder-mounts")
    val inside = Files.createDirectory(folder.resolve("t"))
    val link = Files.createSymbolicLink(folder.resolve("link"), Paths.get("/proc"))
    def begins(path: java.nio.file.Path) = LocalMounts.begins(new Path(path.toUri))
    try {
      assert(begins(Paths.get("/proc")) && begins(link))
      assert(!begins(inside) && !begins(Paths.get("/proc/self/fd")))
    } finally Seq(link, inside, folder).foreach(Files.delete)
  }
}
