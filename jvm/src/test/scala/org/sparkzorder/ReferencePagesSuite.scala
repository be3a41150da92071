package org.sparkzorder

import java.nio.file.{Files, Path, Paths}

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.conf.{Setting, TableProperties, ZOrderConf}
import org.sparkzorder.optimize.options.{OptimizeOption, OptimizeOptions, OptionTable, OptionType}
import org.sparkzorder.parser.StatementParser
import org.sparkzorder.statement.{OptimizeStatement, Predicate}

/**
 * Compares the reference pages, and Python's list of options, with the tables in the code. With
 * WRITE_GOLDEN=1 it writes them anew.
 */
class ReferencePagesSuite extends AnyFunSuite {

  private val root = Iterator.iterate(Paths.get("").toAbsolutePath)(_.getParent).takeWhile(_ != null)
    .find(folder => Files.exists(folder.resolve("build.sbt"))).get

  private def isCurrent(file: String, text: String): Unit = {
    val path: Path = root.resolve(file)
    if (sys.env.get("WRITE_GOLDEN").contains("1")) {
      Files.createDirectories(path.getParent)
      Files.writeString(path, text)
    }
    val found = if (Files.exists(path)) Files.readString(path) else ""
    assert(found == text, s"$file is not what the code says: run this suite with WRITE_GOLDEN=1")
    ()
  }

  test("the page of options shows the options that the code has") {
    isCurrent("docs/reference/options.md", ReferencePages.options)
  }

  test("the page of settings shows the settings and table properties that the code has") {
    isCurrent("docs/reference/settings.md", ReferencePages.settings)
  }

  test("Python has the options that the code has") {
    isCurrent("python/src/spark_zorder/options.py", ReferencePages.pythonOptions)
  }

  test("an option that the code defines is in the table of all options") {
    val defined = OptionTable.getClass.getDeclaredMethods
      .filter(m => classOf[OptimizeOption[_]].isAssignableFrom(m.getReturnType))
      .map(_.invoke(OptionTable).asInstanceOf[OptimizeOption[_]].key).toSet
    assert(defined.nonEmpty && defined == OptionTable.keys.toSet + OptionTable.lostFiles.key)
    assert(OptionTable.keys.distinct == OptionTable.keys)
  }

  test("a setting that the code registers with Spark is in the table of all settings") {
    val listed = ZOrderConf.all.map(_.key)
    val registered = SQLConf.get.getAllDefinedConfs.map(_._1).filter(_.startsWith("spark.zorder."))
    assert(registered.nonEmpty && registered.toSet == listed.toSet)
    assert(listed.distinct == listed)
  }

  test("each example of an option is a value that the option takes") {
    (OptionTable.all :+ OptionTable.lostFiles).foreach { option =>
      assert(option.valueType.read(option.example, "parquet").isDefined, option.key)
    }
  }

  test("each example of a setting is a value that the setting takes") {
    val conf = new SQLConf
    ZOrderConf.all.foreach { setting =>
      conf.setConfString(setting.key, setting.example)
      assert(conf.getConfString(setting.key) == setting.example)
    }
    assert(ZOrderConf.retentionMillis(TableProperties.historyRetention.example).isDefined)
  }

  test("the example of OPTIMIZE on the page of options is a statement that we take") {
    def unquote(literal: String) = literal.stripPrefix("'").stripSuffix("'")
    StatementParser.parse(
      ReferencePages.optimizeExample,
      unquote,
      (text, _) => new Predicate(text, Literal(text))
    ) match {
      case s: OptimizeStatement =>
        val options = OptimizeOptions.parse(s.options, "parquet", folderBytes = Nil)
        assert(options.numFiles.contains(8) && options.compression.contains("zstd"))
      case other => fail(s"$other")
    }
  }

  test("each description is made of whole sentences of at most 30 words") {
    val descriptions = (OptionTable.all :+ OptionTable.lostFiles).map(o => o.key -> o.description) ++
      (ZOrderConf.all ++ TableProperties.all).map(s => s.key -> s.description)
    descriptions.foreach { case (key, text) =>
      assert(text.endsWith(".") && text.head.isUpper, key)
      text.split("(?<=\\.) ").foreach(sentence => assert(sentence.split(" ").length <= 30, s"$key: $sentence"))
    }
  }
}

/** The texts that are made from the tables of options and settings. */
private object ReferencePages {

  val optimizeExample =
    "OPTIMIZE flights ZORDER BY (carrier, dest) OPTIONS ('num-files' = '8', 'compression' = 'zstd')"

  def options: String =
    s"""# Options
       |
       |`OPTIMIZE` takes options in its last clause. This page lists all of them, and the one of
       |[`RESTORE`](#restore).
       |
       |<!-- table: flights -->
       |```sql
       |$optimizeExample;
       |```
       |
       |In Python, four of them are arguments of their own: `num_files`, `target_file_size`, `compression`
       |and `retain_hours`. The argument `options` takes the others by their keys:
       |
       |```python
       |from spark_zorder import ZOrderTable
       |
       |flights = ZOrderTable(spark, "flights")
       |flights.optimize(["carrier", "dest"], num_files=8, compression="zstd", options={"cuts": "equal"})
       |```
       |
       |- Keys may be in upper or lower case.
       |- A size is a number of bytes or a text such as `128MB` or `1 GiB`. All units are powers of 1024.
       |- An unknown option is an error that lists all options. A value out of range is an error that names
       |  the range.
       |""".stripMargin + OptionTable.all.map(_.group).distinct.map(optionsOf).mkString +
      optionsOf(OptionTable.lostFiles.group)

  private def optionsOf(group: String): String = {
    val lines = (OptionTable.all :+ OptionTable.lostFiles).filter(_.group == group).map { o =>
      Seq(s"`${o.key}`", o.valueType.name, o.default, o.valueType.range, o.description, s"`${o.example}`")
    }
    s"\n## $group\n\n" + table("Option", lines)
  }

  def settings: String =
    """# Settings
      |
      |## Session settings
      |
      |Set them when you start the session, or later with `SET`. They hold for this session only.
      |
      |```sql
      |SET spark.zorder.workload.enabled = true;
      |```
      |
      |""".stripMargin + table("Setting", ZOrderConf.all.map(cells)) +
      """
        |## Table properties
        |
        |They hold for every session. Only tables in a catalog have properties.
        |
        |<!-- table: flights -->
        |```sql
        |ALTER TABLE flights SET TBLPROPERTIES ('zorder.index.exclude-columns' = 'carrier, dest');
        |```
        |
        |""".stripMargin + table("Property", TableProperties.all.map(cells))

  private def cells(s: Setting): Seq[String] =
    Seq(s"`${s.key}`", s.valueType, s.default, s.range, s.description, s"`${s.example}`")

  private def table(first: String, lines: Seq[Seq[String]]): String = {
    def row(cells: Seq[String]) = cells.map(_.replace("|", "\\|")).mkString("| ", " | ", " |\n")
    row(Seq(first, "Type", "Default", "Range", "Description", "Example")) + "|---|---|---|---|---|---|\n" +
      lines.map(row).mkString
  }

  def pythonOptions: String = {
    val quotes = "\"" * 3
    s"""${quotes}The options of `OPTIMIZE` and `RESTORE`.
       |
       |ReferencePagesSuite writes this file from the table of options in the Scala sources: do not edit it.
       |$quotes
       |
       |from __future__ import annotations
       |
       |from typing import Literal, NamedTuple, TypedDict
       |
       |
       |class OptimizeOption(NamedTuple):
       |    ${quotes}An option of `OPTIMIZE`, in words for readers.
       |
       |    Examples:
       |        >>> from spark_zorder import OPTIMIZE_OPTIONS
       |        >>> next(option.range for option in OPTIMIZE_OPTIONS if option.key == "num-files")
       |        '1 to 1,000,000'
       |    $quotes
       |
       |    key: str
       |    type: str
       |    default: str
       |    range: str
       |    description: str
       |    example: str
       |
       |
       |OPTIMIZE_OPTIONS: tuple[OptimizeOption, ...] = (
       |${OptionTable.all.map(pythonOption).mkString})
       |
       |OptimizeOptions = TypedDict(
       |    "OptimizeOptions",
       |    {
       |${OptionTable.all.map(o => s"        ${quoted(o.key)}: ${pythonType(o.valueType)},\n").mkString}    },
       |    total=False,
       |)
       |${quotes}The options by their keys, with the types of their values.$quotes
       |
       |RestoreOptions = TypedDict(
       |    "RestoreOptions",
       |    {${quoted(OptionTable.lostFiles.key)}: ${pythonType(OptionTable.lostFiles.valueType)}},
       |    total=False,
       |)
       |${quotes}The option of `RESTORE`.$quotes
       |""".stripMargin
  }

  private def pythonType(valueType: OptionType[_]): String = valueType match {
    case _: OptionType.WholeNumber[_] => "int"
    case _: OptionType.ByteSize       => "int | str"
    case OptionType.TrueOrFalse       => "bool"
    case OptionType.OneOf(words @ _*) => s"Literal[${words.map(quoted).mkString(", ")}]"
    case _: OptionType.WordOfFormat   => "str"
    case _: OptionType.ColumnNames    => "str"
  }

  private def pythonOption(o: OptimizeOption[_]): String = {
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
