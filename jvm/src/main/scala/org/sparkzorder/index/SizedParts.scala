package org.sparkzorder.index

import java.io.{DataInputStream, DataOutputStream}

/** Parts of a block, each after its size: their number comes first. */
private[index] object SizedParts {

  def write(out: DataOutputStream, parts: Seq[Array[Byte]]): Unit = {
    out.writeInt(parts.length)
    parts.foreach { bytes =>
      out.writeInt(bytes.length)
      out.write(bytes)
    }
  }

  /**
   * All sizes are checked before memory is taken for a part.
   *
   * @param name of a part, for errors
   * @param most how many bytes they may have together
   * @throws IndexFormatException when there are not so many bytes
   */
  def read(in: DataInputStream, name: String, most: Int): Vector[Array[Byte]] = {
    val count = in.readInt()
    if (count < 0 || count > in.available / 4) throw new IndexFormatException(s"$count ${name}s")
    var left = most
    Vector.fill(count) {
      val size = in.readInt()
      if (size < 0 || size > in.available)
        throw new IndexFormatException(s"a size of $size bytes for one of $count ${name}s")
      if (size > left) throw new IndexFormatException(s"${name}s of more than $most bytes")
      left -= size
      val bytes = new Array[Byte](size)
      in.readFully(bytes)
      bytes
    }
  }
}
