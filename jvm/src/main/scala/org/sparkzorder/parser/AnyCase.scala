package org.sparkzorder.parser

import org.antlr.v4.runtime.CharStream
import org.antlr.v4.runtime.misc.Interval

/**
 * A text whose letters from a to z look like capitals to the lexer, and that stays as it was written in tokens. The
 * grammar's own option for this is unknown to the ANTLR of Spark 3.5.
 */
private[parser] class AnyCase(text: CharStream) extends CharStream {
  override def LA(offset: Int): Int = text.LA(offset) match {
    case letter if 'a' <= letter && letter <= 'z' => letter - 'a' + 'A'
    case other                                    => other
  }

  override def consume(): Unit = text.consume()
  override def mark(): Int = text.mark()
  override def release(marker: Int): Unit = text.release(marker)
  override def index(): Int = text.index()
  override def seek(index: Int): Unit = text.seek(index)
  override def size(): Int = text.size()
  override def getSourceName: String = text.getSourceName
  override def getText(interval: Interval): String = text.getText(interval)
}
