package org.sparkzorder.compat

import com.github.luben.zstd.Zstd

object ZstdFrames {

  /** The size that a frame says its content has. */
  def contentSize(bytes: Array[Byte], from: Int, length: Int): Long = Zstd.getFrameContentSize(bytes, from, length)
}
