package org.sparkzorder.commit

import java.io.IOException

import org.apache.hadoop.fs.Path

/** Fails at one call, and dies at a later one. */
final class FailThenDie(ops: FileOps, failAt: Int, dieAt: Int) extends FileOps {
  private var calls = 0

  private def call[A](effect: => A): A = {
    calls += 1
    if (calls >= dieAt) throw new Died
    if (calls == failAt) throw new IOException(s"call $failAt fails")
    effect
  }

  override def list(dir: Path): Seq[FileMeta] = call(ops.list(dir))
  override def status(path: Path): Option[FileMeta] = call(ops.status(path))
  override def rename(src: Path, dst: Path): Unit = call(ops.rename(src, dst))
  override def copy(from: FileMeta, temporary: Path, to: Path)(check: => Unit): Unit =
    call(ops.copy(from, temporary, to)(check))
  override def delete(path: Path): Unit = call(ops.delete(path))
  override def deleteEmpty(dir: Path): Boolean = call(ops.deleteEmpty(dir))
  override def deleteRecursive(dir: Path): Unit = call(ops.deleteRecursive(dir))
  override def mkdirs(dir: Path): Unit = call(ops.mkdirs(dir))
  override def writeNew(path: Path, bytes: Array[Byte]): Unit = call(ops.writeNew(path, bytes))
  override def read(path: Path, limit: Long): Array[Byte] = call(ops.read(path, limit))
  override def touch(path: Path): Unit = call(ops.touch(path))
}
