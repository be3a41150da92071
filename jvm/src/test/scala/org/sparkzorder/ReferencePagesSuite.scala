package org.sparkzorder

import java.nio.file.Files
import java.util.regex.{Matcher, Pattern}

import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.conf.{Setting, TableProperties, ZOrderConf}
import org.sparkzorder.optimize.options.{OptimizeOption, OptionTable, OptionType}

/**
 * Compares the tables of the reference pages, and Python's list of options, with those in the code. With
 * WRITE_GOLDEN=1 it writes them anew. The other text of these files is written by hand.
 */
class ReferencePagesSuite extends AnyFunSuite {
  import ReferencePages._

  import Repository.root

  /** @param parts what comes right before a part of the file, a pattern of the part, and what the code makes of it */
  private def isCurrent(file: String, parts: (String, String, String)*): Unit = {
    val found = Files.readString(root.resolve(file))
    val text = parts.foldLeft(found) { case (t, (before, part, made)) =>
      val pattern = s"(${Pattern.quote(before)})$part".r
      assert(pattern.findAllMatchIn(t).size == 1, s"$file has no part after $before")
      pattern.replaceFirstIn(t, "$1" + Matcher.quoteReplacement(made))
    }
    if (sys.env.get("WRITE_GOLDEN").contains("1")) Files.writeString(root.resolve(file), text)
    else assert(found == text, s"$file is not what the code says: run this suite with WRITE_GOLDEN=1")
    ()
  }

  test("the page of options shows the options that the code has") {
    val groups = listed.map(_.group).distinct
    isCurrent("docs/reference/options.md", groups.map(g => (s"\n## $g\n\n", Table, optionsOf(g))): _*)
    val headings = Files.readString(root.resolve("docs/reference/options.md")).linesIterator.filter(_.startsWith("## "))
    assert(headings.toSeq == groups.map("## " + _))
  }

  test("the page of settings shows the settings and table properties that the code has") {
    isCurrent(
      "docs/reference/settings.md",
      ("workload.enabled = true;\n```\n\n", Table, table("Setting", ZOrderConf.all.map(cells))),
      ("'carrier, dest');\n```\n\n", Table, table("Property", TableProperties.all.map(cells)))
    )
  }

  test("Python has the options that the code has") {
    isCurrent(
      "python/src/spark_zorder/options.py",
      (
        "OPTIMIZE_OPTIONS: tuple[OptimizeOption, ...] = (\n",
        "(    .*\\n)+",
        OptionTable.all.map(pythonOption).mkString
      ),
      ("    \"OptimizeOptions\",\n    {\n", "(        .*\\n)+", OptionTable.all.map(pythonEntry).mkString),
      (
        "    \"RestoreOptions\",\n",
        "    \\{.*\\},\\n",
        s"    {${pythonEntry(OptionTable.lostFiles).trim.stripSuffix(",")}},\n"
      )
    )
  }

  test("an option that the code defines, or a setting that it registers with Spark, is in the table of all of them") {
    val defined = OptionTable.getClass.getDeclaredMethods
      .filter(m => classOf[OptimizeOption[_]].isAssignableFrom(m.getReturnType))
      .map(_.invoke(OptionTable).asInstanceOf[OptimizeOption[_]].key).toSet
    assert(defined.nonEmpty && defined == OptionTable.keys.toSet + OptionTable.lostFiles.key)
    assert(OptionTable.keys.distinct == OptionTable.keys)
    val listed = ZOrderConf.all.map(_.key)
    val registered = SQLConf.get.getAllDefinedConfs.map(_._1).filter(_.startsWith("spark.zorder."))
    assert(registered.nonEmpty && registered.toSet == listed.toSet)
    assert(listed.distinct == listed)
  }

  test("each example of an option or a setting is a value that it takes") {
    listed.foreach(option => assert(option.valueType.read(option.example, "parquet").isDefined, option.key))
    val conf = new SQLConf
    ZOrderConf.all.foreach { setting =>
      conf.setConfString(setting.key, setting.example)
      assert(conf.getConfString(setting.key) == setting.example)
    }
    assert(ZOrderConf.retentionMillis(TableProperties.historyRetention.example).isDefined)
  }

  test("each description is made of whole sentences of at most 30 words") {
    val descriptions = listed.map(o => o.key -> o.description) ++
      (ZOrderConf.all ++ TableProperties.all).map(s => s.key -> s.description)
    descriptions.foreach { case (key, text) =>
      assert(text.endsWith(".") && text.head.isUpper, key)
      text.split("(?<=\\.) ").foreach(sentence => assert(sentence.split(" ").length <= 30, s"$key: $sentence"))
    }
  }
}

/** The texts that are made from the tables of options and settings. */
private object ReferencePages {

  /** A pattern of a table. */
  val Table = "(\\|.*\\n)+"

  val listed: Seq[OptimizeOption[_]] = OptionTable.all :+ OptionTable.lostFiles

  def optionsOf(group: String): String = table(
    "Option",
    listed.filter(_.group == group).map { o =>
      Seq(s"`${o.key}`", o.valueType.name, o.default, o.valueType.range, o.description, s"`${o.example}`")
    }
  )

  def cells(s: Setting): Seq[String] =
    Seq(s"`${s.key}`", s.valueType, s.default, s.range, s.description, s"`${s.example}`")

  def table(first: String, lines: Seq[Seq[String]]): String = {
    def row(cells: Seq[String]) = cells.map(_.replace("|", "\\|")).mkString("| ", " | ", " |\n")
    row(Seq(first, "Type", "Default", "Range", "Description", "Example")) + "|---|---|---|---|---|---|\n" +
      lines.map(row).mkString
  }

  def pythonEntry(o: OptimizeOption[_]): String = s"        ${quoted(o.key)}: ${pythonType(o.valueType)},\n"

  private def pythonType(valueType: OptionType[_]): String = valueType match {
    case _: OptionType.WholeNumber[_] => "int"
    case _: OptionType.ByteSize       => "int | str"
    case OptionType.TrueOrFalse       => "bool"
    case OptionType.OneOf(words @ _*) => s"Literal[${words.map(quoted).mkString(", ")}]"
    case _: OptionType.WordOfFormat   => "str"
    case _: OptionType.ColumnNames    => "str"
  }

  def pythonOption(o: OptimizeOption[_]): String = {
    val fields = Seq(
      "key" -> o.key,
      "type" -> o.valueType.name,
      "default" -> o.default,
      "range" -> o.valueType.range,
      "description" -> o.description,
      "example" -> o.example
    )
    fields.map { case (name, text) => pythonField(name, text) }
      .mkString("    OptimizeOption(\n", "", "    ),\n")
  }

  /** Longer lines are broken as `ruff format` leaves them. */
  private val PythonColumns = 120

  private def pythonField(name: String, text: String): String = {
    val line = s"        $name=${quoted(text)},"
    val indented = s"            ${quoted(text)}"
    if (line.length <= PythonColumns) line + "\n"
    else {
      val parts =
        if (indented.length <= PythonColumns) Seq(text)
        else
          text.split("(?<= )").foldLeft(Vector("")) { (lines, word) =>
            if ((lines.last + word).length <= 90) lines.init :+ (lines.last + word) else lines :+ word
          }
      parts.map(part => s"            ${quoted(part)}\n").mkString(s"        $name=(\n", "", "        ),\n")
    }
  }

  private def quoted(text: String): String = "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""
}
