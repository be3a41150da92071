package org.sparkzorder.commit

import java.nio.file.{Files, Path => LocalPath}
import java.util.Comparator

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, LocalFileSystem, Path}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.lock.{LockSettings, Locking}
import org.sparkzorder.commit.machine.{FolderCommitter, Operation}
import org.sparkzorder.commit.side.IndexFiles
import org.sparkzorder.commit.storage.HadoopFileOps

/** Tables on the local disk, whose data files are texts: a word is a row. */
abstract class LocalTables extends AnyFunSuite {
  protected val fs: LocalFileSystem = FileSystem.getLocal(new Configuration())
  protected val ops = new HadoopFileOps(fs)

  protected def withRoot(test: LocalPath => Unit): Unit = {
    val dir = Files.createTempDirectory("commit")
    try test(dir)
    finally
      Using.resource(Files.walk(dir))(_.sorted(Comparator.reverseOrder[LocalPath]()).forEach(f => Files.delete(f)))
  }

  protected def onDisk(name: String)(body: LocalPath => Unit): Unit = test(name)(withRoot(body))

  protected def path(file: LocalPath): Path = new Path(file.toUri)

  protected def put(file: LocalPath, text: String): Unit = {
    Files.createDirectories(file.getParent)
    Files.writeString(file, text)
    ()
  }

  protected def text(file: LocalPath): String = Files.readString(file)
  protected def all(dir: LocalPath): Seq[LocalPath] = Using.resource(Files.walk(dir))(_.iterator.asScala.toList).sorted
  protected def meta(file: LocalPath): FileMeta = ops.status(path(file)).get

  /** The data files that a plain reader sees. */
  protected def data(dir: LocalPath): Seq[LocalPath] =
    all(dir).filter(f => f.toString.endsWith(".parquet") && !f.toString.contains("_zorder") && Files.isRegularFile(f))

  protected def rows(files: Seq[LocalPath]): Seq[String] = files.flatMap(text(_).split(' ')).sorted

  /** Files of one row each in folders of a name each. A row is `11` in the first file of the first folder. */
  protected def inputs(dir: LocalPath, folders: Int = 2, files: Int = 3): Seq[InputFile] =
    for (p <- 1 to folders; i <- 1 to files) yield {
      val file = dir.resolve(s"p=$p/part-$i.parquet")
      put(file, s"$p$i")
      InputFile(s"p=$p/part-$i.parquet", meta(file).length, meta(file).modificationTime, 1L)
    }

  /** Two files of each of two folders. */
  protected val two: Seq[(String, Seq[String])] =
    (1 to 2).flatMap(p => Seq(s"p=$p/new-1.parquet" -> Seq(s"${p}1", s"${p}3"), s"p=$p/new-2.parquet" -> Seq(s"${p}2")))

  protected val expected: Seq[String] = Seq("11", "12", "13", "21", "22", "23")

  /**
   * @param made the new files and their rows
   * @param indexes whether it writes an index as well
   */
  protected def optimize(
      folder: TableFolder,
      inputs: Seq[InputFile],
      made: Seq[(String, Seq[String])] = two,
      settings: LockSettings = LockSettings(),
      indexes: Boolean = false
  ): Unit = {
    val id = "op-1"
    val lock = Locking.acquire(folder, id, settings)
    try {
      val committer = new FolderCommitter(folder, lock)
      Operation.run(committer, folder, lock) {
        committer.claim(made.map(m => FileNames.parent(m._1)).distinct.sorted)
        val outputs = made.map { case (name, rows) =>
          val file = LocalPath.of(folder.staged(name, id).toUri.getPath)
          put(file, rows.mkString(" "))
          OutputFile(name, meta(file).length, meta(file).modificationTime, rows.size.toLong)
        }
        committer.prepare(Record(0L, id, "OPTIMIZE", 1L, "me", Map.empty, Map.empty, inputs, outputs))
        if (indexes) IndexFiles.write(folder, lock, Array[Byte](1))
      }((_, _) => ())
      ()
    } finally lock.release()
  }
}
