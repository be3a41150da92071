package org.sparkzorder

import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._
import scala.util.Random

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{ArrayNode, JsonNodeFactory, ObjectNode}
import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator

import org.sparkzorder.index.LoadedClass

/** Changes files as disks, programs and people do. */
final class Mutation(random: Random) {
  import Mutation._

  def pick[T](of: Seq[T]): T = of(random.nextInt(of.length))

  /** Cut, overwritten, shifted, doubled.. bytes. */
  def ofBytes(bytes: Array[Byte]): Array[Byte] = {
    def at = if (bytes.isEmpty) 0 else random.nextInt(bytes.length)
    val (a, b) = (at, at)
    val (from, to) = (math.min(a, b), math.max(a, b))
    random.nextInt(8) match {
      case 0 => bytes.take(a)
      case 1 => bytes.drop(a)
      case 2 => bytes.patch(from, Nil, to - from)
      case 3 => bytes.patch(from, bytes.slice(from, math.min(to, from + 64)), 0)
      case 4 => bytes.patch(from, Array.fill[Byte](math.min(64, to - from))(pick(Seq[Byte](0, -1, 32))), to - from)
      case 5 =>
        val noise = new Array[Byte](1 + random.nextInt(32))
        random.nextBytes(noise)
        bytes.patch(a, noise, pick(Seq(0, noise.length)))
      case _ =>
        val changed = bytes.clone()
        if (bytes.nonEmpty) (0 to random.nextInt(4)).foreach { _ =>
          val n = at
          changed(n) = (changed(n) ^ (1 << random.nextInt(8))).toByte
        }
        changed
    }
  }

  /** The same JSON with a value replaced, a field lost, renamed or doubled. Not JSON: bytes as they are. */
  def ofJson(json: Array[Byte]): Array[Byte] = {
    val root = mapper.readTree(json)
    val places = all(root)
    if (places.isEmpty) json
    else {
      (0 to random.nextInt(2)).foreach(_ => change(pick(places)))
      val text = mapper.writeValueAsString(root)
      // Twice the same name: the mapper cannot say it.
      if (random.nextInt(10) == 0) {
        val name = pick("\"[a-zA-Z]+\":".r.findAllIn(text).toSeq :+ "{")
        text.replaceFirst(java.util.regex.Pattern.quote(name), s"$name${pick(hostile)},$name").getBytes(UTF_8)
      } else text.getBytes(UTF_8)
    }
  }

  private def all(node: JsonNode): Seq[JsonNode] =
    if (node.isContainerNode && node.size > 0) node +: node.elements.asScala.toSeq.flatMap(all) else Nil

  private def change(place: JsonNode): Unit = place match {
    case o: ObjectNode =>
      val name = pick(o.fieldNames.asScala.toSeq :+ "nothing")
      random.nextInt(8) match {
        case 0 => o.remove(name)
        case 1 => Option(o.remove(name)).foreach(v => o.set[JsonNode](name.capitalize, v))
        case _ => o.set[JsonNode](name, value(o.get(name)))
      }
      ()
    // Another change may have emptied it.
    case a: ArrayNode if a.size > 0 =>
      val n = random.nextInt(a.size)
      random.nextInt(4) match {
        case 0 => a.remove(n)
        case 1 => a.add(a.get(n).deepCopy[JsonNode]())
        case _ => a.set(n, value(a.get(n)))
      }
      ()
    case _ => ()
  }

  private def value(old: JsonNode): JsonNode =
    if (old != null && old.isNumber && random.nextInt(3) == 0)
      JsonNodeFactory.instance.numberNode(old.longValue + pick(Seq(-1, 1, 1000)))
    else if (old != null && old.isTextual && random.nextInt(3) == 0) {
      val text = old.textValue
      val paths = Seq("../" + text, "/" + text, text + "/..", text.replace('/', '\\'), "_zorder/" + text)
      val others = Seq(text + "\u0000", text.reverse, text.drop(text.length / 2), text * 40)
      JsonNodeFactory.instance.textNode(pick(paths ++ others))
    } else mapper.readTree(pick(hostile))
}

object Mutation {
  private val mapper = new ObjectMapper()

  /** Without our warnings, of which there would be one for each file. */
  def silently[T](work: => T): T = {
    Configurator.setLevel("org.sparkzorder", Level.OFF)
    try work
    finally Configurator.setLevel("org.sparkzorder", null: Level)
  }

  /** How many files are changed: in all what `FUZZ_FILES` says, or as many as `make test` has time for. */
  def files(share: Double): Int = (sys.env.get("FUZZ_FILES").fold(4000)(_.toInt) * share).toInt

  private val evil = s"""{"type":"udt","class":"${classOf[LoadedClass].getName}","pyClass":null,"sqlType":"integer"}"""

  private val hostile: Seq[String] = {
    val numbers = "0 -1 1 2147483647 2147483648 4000000000 9223372036854775807 -9223372036854775808 1.5 1e308 " +
      "99999999999999999999999999"
    val outside = Seq("/outside", "../outside", "file:/outside", "p=1/../../outside").map(_ + "/kept.parquet") :+
      "_zorder/trash/_v0000000001-op/../../../outside/kept.parquet"
    val texts = Seq("", "..", "\\u0000", "\\ud800", "x" * 300, "decimal(38,38)", "bytes", "longs", "nulls") ++ outside
    val struct = s"""{"type":"struct","fields":[{"name":"","nullable":true,"type":$evil,"metadata":{}}]}"""
    val nested = Seq(evil, struct, "[" * 5000, "\"decimal(99,-7)\"").map(mapper.writeValueAsString)
    "null true {} [] [[]]".split(' ').toSeq ++ numbers.split(' ') ++ texts.map(t => s"\"$t\"") ++ nested ++
      Seq("[" * 150 + "]" * 150, evil)
  }
}
