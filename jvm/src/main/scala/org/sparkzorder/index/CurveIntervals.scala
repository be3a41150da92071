package org.sparkzorder.index

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream, IOException}

import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BINARY
import org.apache.parquet.schema.Types
import org.apache.spark.sql.types.DataType
import org.slf4j.LoggerFactory

import org.sparkzorder.compat._
import org.sparkzorder.layout._
import org.sparkzorder.stats.{ColumnKey, Encoding, OrderedValue}

/** The interval of the curve of each file of an index that OPTIMIZE has written along one, and their frames. */
final class CurveIntervals private (
    val frames: IndexedSeq[CurveFrame],
    frameOf: Array[Int],
    low: Array[Long],
    high: Array[Long],
    layer: Array[Byte]
) {

  def of(i: Int): Option[CurveInterval] =
    if (frameOf(i) < 0) None else Some(CurveInterval(frames(frameOf(i)), low(i), high(i), layer(i).toInt))

  /** The index in `frames`, -1 for none. */
  def frame(i: Int): Int = frameOf(i)

  def lowOf(i: Int): Long = low(i)

  def highOf(i: Int): Long = high(i)

  private[index] def memoryBytes: Long = 21L * frameOf.length + frames.flatMap(_.distributions).map(d =>
    d match {
      case l: LongDistribution => 12L * l.distinct
      // The array's header, its bytes, and the reference to it.
      case b: BytesDistribution => b.values.iterator.map(v => 32L + v.length).sum
    }
  ).sum
}

private[index] object CurveIntervals {

  private val log = LoggerFactory.getLogger(classOf[CurveIntervals])

  /** Most bytes of all frames together: enough for a thousand partitions. */
  val MaxFrameBytes: Int = 16 << 20

  /** The number of each file's frame, in the first row of a number the frame, and the interval. */
  val Columns: Seq[String] = Seq("curve_frame", "curve_boundaries", "curve_low", "curve_high", "curve_layer")

  /** Without the boundaries of frames that have only a few different intervals, perhaps since many files are gone. */
  private def withoutSmallFrames(files: IndexedSeq[Option[CurveInterval]]): IndexedSeq[Option[CurveInterval]] = {
    val few = files.flatten.groupMap(_.frame.id)(i => (i.low, i.high))
      .collect { case (frame, intervals) if intervals.distinct.size < FrameBudget.FewestFiles => frame }.toSet
    files.map(_.map(i => if (i.frame.hasBoundaries && few(i.frame.id)) i.withoutBoundaries else i))
  }

  /**
   * Writes nothing when no file has an interval. If there is no room for all frames, those with the most bytes of data
   * come first.
   *
   * @param placed the interval of each file
   * @param length the size of each file
   * @param warn is called when frames are left out, and with them the intervals of their files
   */
  def write(
      to: IndexWriter,
      placed: IndexedSeq[Option[CurveInterval]],
      length: Int => Long,
      warn: String => Unit = log.warn(_)
  ): Unit = {
    val files = withoutSmallFrames(placed)
    val kept = encoded(files, length, warn)
    if (kept.nonEmpty) {
      val number = kept.map(_._1).zipWithIndex.toMap
      val frameOf = files.map(_.flatMap(i => number.get(i.frame.id)).getOrElse(-1)).toArray
      to.shared(Columns(0), Types.optional(BINARY).named(Columns(1)), frameOf, kept.map(_._2))
      val has = PlainPage.where(frameOf.length)(frameOf(_) >= 0)
      to.numbers(Columns(2), has, files(_).get.low)
      to.numbers(Columns(3), has, files(_).get.high)
      to.numbers(Columns(4), has, files(_).get.layer.toLong)
    }
  }

  /** The ids and bytes of the frames for which there is room, in the order of their files. */
  private def encoded(
      files: IndexedSeq[Option[CurveInterval]],
      length: Int => Long,
      warn: String => Unit
  ): IndexedSeq[(String, Array[Byte])] = {
    val frames = files.flatten.map(_.frame).distinctBy(_.id)
    val ofFrame = files.indices.filter(files(_).isDefined).groupMapReduce(files(_).get.frame.id)(length)(_ + _)
    val textOf = TypeTexts.memo(TypeTexts.of)
    var left = MaxFrameBytes.toLong
    val found = frames.sortBy(f => -ofFrame(f.id)).flatMap { frame =>
      // The size is known before a byte is written, so a frame that is too large costs nothing.
      val fits = frame.distributions.iterator.map(FrameBytes.size).sum <= left
      val bytes = Option.when(fits)(frameBytes(frame, textOf)).filter(_.length <= left)
      bytes.foreach(left -= _.length)
      bytes.map(frame.id -> _)
    }.toMap
    if (found.size < frames.size) {
      val without = frames.filterNot(f => found.contains(f.id))
      warn(
        s"The index has no room for ${without.size} of ${frames.size} sets of boundaries: all together may have " +
          s"$MaxFrameBytes bytes. They placed files of ${without.map(f => ofFrame(f.id)).sum} bytes, and the next OPTIMIZE " +
          "of these files rewrites all of them."
      )
    }
    frames.flatMap(f => found.get(f.id).map(f.id -> _))
  }

  private def frameBytes(frame: CurveFrame, textOf: DataType => String): Array[Byte] = {
    val buffer = new ByteArrayOutputStream
    val out = new DataOutputStream(buffer)
    out.writeUTF(frame.id)
    out.writeByte(frame.columns.length)
    frame.columns.foreach { c =>
      out.writeBoolean(c.lasting)
      out.writeByte(c.key.path.length)
      c.key.path.foreach(out.writeUTF)
      out.writeUTF(textOf(c.key.dataType))
    }
    FrameBytes.write(out, frame.distributions, frame.curve)
    buffer.toByteArray
  }

  /**
   * A frame with a type that this Spark does not know cannot be read: its files have no interval.
   *
   * @throws IndexFormatException unless [[write]] could have made these pages
   */
  def read(from: IndexReader): CurveIntervals = {
    val pages = from.pages(Columns, MaxFrameBytes + 10L * from.footer.files + 16)
    val (frameOf, parts) = from.shared(pages)
    val (low, high, layer) = (pages.next().longs(0L), pages.next().longs(0L), pages.next().longs(0L))
    val typeOf = TypeTexts.memo(TypeTexts.dataType)
    val frames =
      try parts.map(frame(_, typeOf))
      catch { case e: IOException => throw new IndexFormatException(s"a frame is damaged: ${e.getMessage}", e) }
    // Frames that cannot be read are left out, so that the others get new numbers.
    val numbers = frames.indices.scanLeft(0)((n, i) => n + frames(i).size)
    frameOf.indices.foreach { i =>
      val known = if (frameOf(i) < 0) None else frames(frameOf(i))
      known.foreach(f =>
        if (low(i) < 0 || low(i) > high(i) || high(i) > f.last || layer(i) != layer(i).toByte)
          throw new IndexFormatException("an interval outside of its curve")
      )
      frameOf(i) = if (known.isEmpty) -1 else numbers(frameOf(i))
    }
    new CurveIntervals(frames.flatten, frameOf, low, high, layer.map(_.toByte))
  }

  /** The frame; None when this Spark does not know the type of one of its columns. */
  private def frame(bytes: Array[Byte], typeOf: String => Option[DataType]): Option[CurveFrame] = {
    val in = new DataInputStream(new ByteArrayInputStream(bytes))
    val id = in.readUTF()
    val columns = Vector.fill(in.readUnsignedByte()) {
      val lasting = in.readBoolean()
      val path = Vector.fill(in.readUnsignedByte())(in.readUTF())
      typeOf(in.readUTF()).map(t => FrameColumn(ColumnKey(path, t), lasting))
    }
    val (distributions, curve) = FrameBytes.read(in, in.available)
    if (in.available > 0) throw new IndexFormatException("a frame is longer than its contents")
    if (columns.length != curve.columns) throw new IndexFormatException("a frame of other columns")
    Option.when(columns.forall(_.isDefined))(columns.flatten).map { known =>
      known.zip(distributions).foreach { case (c, d) =>
        val isLong = OrderedValue.encoding(c.key.dataType).contains(Encoding.Longs)
        if (isLong != d.isInstanceOf[LongDistribution]) throw new IndexFormatException("boundaries of another type")
      }
      new CurveFrame(id, known, distributions, curve)
    }
  }
}
