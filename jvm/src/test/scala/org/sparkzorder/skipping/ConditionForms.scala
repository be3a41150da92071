package org.sparkzorder.skipping

/** Conditions about a table of 16 files of 500 rows, all of whose columns rise with `id`. */
object ConditionForms {

  /**
   * @param reads the forms that leave out files, each with an example
   * @param needs what they need
   */
  final case class Group(title: String, needs: String, reads: Seq[String])

  val columns: Seq[String] = Seq(
    "id",
    "CAST(id AS INT) AS i",
    "id + id % 7 AS a",
    "id / 4.0D AS x",
    "CAST(id / 8 AS DECIMAL(12, 2)) AS dec",
    "format_string('k%04d', id) AS s",
    "TIMESTAMP'2024-01-01 00:00:00' + make_dt_interval(0, id) AS ts",
    "CAST(TIMESTAMP'2024-01-01 00:00:00' + make_dt_interval(0, id) AS DATE) AS d",
    "named_struct('n', CAST(id AS INT), 't', format_string('t%04d', id)) AS st",
    "IF(id % 3 = 0, NULL, id) AS n"
  )

  val groups: Seq[Group] = Seq(
    Group(
      "Values",
      "A column with bounds in the index, or a field of a struct.",
      Seq(
        "id = 7",
        "id <=> 7",
        "id IN (7, 8, 12)",
        "id < 20",
        "id BETWEEN 20 AND 30",
        "NOT id >= 20",
        "st.n = 7",
        "st = named_struct('n', 7, 't', 't0007')",
        "n = 7",
        "s = 'k0007'",
        "s < 'k0020'",
        "ts < TIMESTAMP'2024-01-02 00:00:00'",
        "d = DATE'2024-01-03'",
        "x = 1.75D",
        "dec < 3"
      )
    ),
    Group(
      "Texts",
      """A string with the binary collation. Of `upper`, `lower` and `ILIKE` only a start of ASCII
        |characters without i and j is used. Of `lower(email) = 'kim@x.org'` it is the k. If queries ask so,
        |store the column in lower case and compare it itself: then [layout and values](skipping.md) help.""".stripMargin,
      Seq(
        "s LIKE 'k000%'",
        "s LIKE 'k00_7'",
        "s LIKE 'k0007%z' OR s = 'k0008'",
        "startswith(s, 'k000')",
        "left(s, 4) = 'k000'",
        "s RLIKE '^k0007'",
        "s RLIKE '^k000[0-9]$'",
        "s ILIKE 'K0007%'",
        "upper(s) = 'K0007'",
        "lower(s) IN ('k0007', 'k0008')",
        "trim(s) = 'k0007'",
        "rtrim(s) = 'k0007'",
        "concat(s, 'x') = 'k0007x'",
        "'a' || s = 'ak0007'",
        "CAST(id AS STRING) = '7'"
      )
    ),
    Group(
      "Choices",
      "Each branch and its condition are looked at by themselves.",
      Seq(
        "coalesce(n, -1) = 7",
        "nvl(id, 0) < 20",
        "ifnull(id, 0) < 20",
        "nullif(id, 5) < 20",
        "nvl2(id, id, 0) < 20",
        "IF(id > 100, id, 0) BETWEEN 101 AND 120",
        "CASE WHEN id < 10 THEN 'low' ELSE 'high' END = 'low'",
        "greatest(id, 10) < 20",
        "least(id, a) < 20",
        "(id < 20) IS TRUE",
        "(id < 20) IS NOT FALSE",
        "(id < 20) = true",
        "coalesce(id + 1, a) < 20"
      )
    ),
    Group(
      "Arithmetic",
      "Numbers that do not leave their type in the file. A result that does is an error or wraps, so such\na file is read.",
      Seq(
        "id + 1 = 8",
        "10 - id > 0",
        "-id > -20",
        "id * 2 < 20",
        "id * -2 > -20",
        "id / 2 < 10",
        "id div 10 = 1",
        "id - id % 10 = 20",
        "x * x < 4",
        "dec * 2 < 4",
        "dec + 0.5 = 1.5",
        "floor(x) = 3",
        "ceil(x) = 3",
        "round(x, 1) = 3.5D",
        "abs(id - 100) < 5",
        "sqrt(id) < 3",
        "ln(id + 1) < 2",
        "power(id + 1, 2) < 50",
        "exp(-x) > 0.9",
        "sign(id - 20) < 0",
        "id < a AND id < 20",
        "id + a < 20",
        "a - id > 3 AND a < 40",
        "id BETWEEN a - 10 AND 20"
      )
    ),
    Group(
      "Casts",
      "Casts between numbers, dates, timestamps and their texts. A file with a value that the new type\ncannot hold is read.",
      Seq(
        "CAST(id AS INT) = 7",
        "CAST(id AS SMALLINT) < 20",
        "CAST(x AS INT) = 7",
        "CAST(dec AS INT) = 7",
        "CAST(id AS DECIMAL(20, 2)) = 7",
        "CAST(i AS DOUBLE) < 20.5",
        "try_cast(id AS INT) = 7",
        "CAST(ts AS LONG) < 1704100000",
        "CAST(ts AS DATE) = DATE'2024-01-03'",
        "CAST(d AS STRING) = '2024-01-03'",
        "CAST(d AS TIMESTAMP) = TIMESTAMP'2024-01-03 00:00:00'"
      )
    ),
    Group(
      "Dates and timestamps",
      "Years 1 to 9999, and 1900 to 9999 where they become a text. Clocks of time zones may be turned back.",
      Seq(
        "year(d) = 2024 AND month(d) = 2",
        "month(ts) = 2",
        "quarter(d) = 1 AND dayofmonth(d) = 1 AND d < DATE'2024-01-09'",
        "trunc(d, 'MM') = DATE'2024-02-01'",
        "date_trunc('DAY', ts) = TIMESTAMP'2024-01-03 00:00:00'",
        "last_day(d) = DATE'2024-02-29'",
        "add_months(d, 1) = DATE'2024-02-03'",
        "d + INTERVAL '1' MONTH = DATE'2024-02-03'",
        "date_add(d, 3) < DATE'2024-01-09'",
        "datediff(d, DATE'2024-01-01') < 3",
        "datediff(DATE'2024-01-10', d) > 7",
        "unix_timestamp(ts) < 1704100000",
        "unix_seconds(ts) < 1704100000",
        "unix_millis(ts) < 1704100000000",
        "unix_date(d) < 19725",
        "ts + INTERVAL 1 DAY < TIMESTAMP'2024-01-03 00:00:00'",
        "ts - INTERVAL '2' HOUR < TIMESTAMP'2024-01-01 00:00:00'",
        "ts - INTERVAL '1' MONTH < TIMESTAMP'2023-12-02 00:00:00'",
        "date_format(ts, 'yyyy-MM') = '2024-02'",
        "date_format(ts, 'yyyy-MM-dd') = '2024-01-03'",
        "from_utc_timestamp(ts, 'Europe/Berlin') < TIMESTAMP'2024-01-02 00:00:00'",
        "window(ts, '1 day').start = TIMESTAMP'2024-01-03 00:00:00'",
        "timestamp_seconds(id) < TIMESTAMP'1970-01-01 00:00:20'"
      )
    ),
    Group(
      "Subqueries",
      "A scalar subquery that is not correlated. Files are left out when the query runs.",
      Seq(
        "id = (SELECT max(k) FROM other)",
        "id > (SELECT max(k) + 7970 FROM other)",
        "id BETWEEN (SELECT min(k) FROM other) AND (SELECT max(k) FROM other)"
      )
    ),
    Group(
      "Partition columns beside others",
      "The partition's value is a constant of its files.",
      Seq(
        "(p = 0 AND id < 10) OR (p = 3 AND id > 7990)",
        "p * 2000 + 20 > id AND p < 2",
        "p = 9 OR id < 10",
        "id - p * 2000 < 20 AND id > 5000"
      )
    )
  )

  /** Forms by which no file is left out, and why not. */
  val unused: Seq[(String, String)] = Seq(
    "s LIKE '%7'" -> "the start of the text is free",
    "contains(s, '07')" -> "the start of the text is free",
    "reverse(s) = '7000k'" -> "the order of the results is another one",
    "length(s) = 5" -> "it says nothing of the order of texts",
    "hash(id) % 16 = 7" -> "the results are scattered",
    "id % 10 = 7" -> "each file has all results",
    "hour(ts) = 7" -> "each file has all results",
    "rand(1) < 0.5" -> "it may give another value for each row"
  )

  /** The page of the documentation. */
  def page(used: Seq[(Group, Seq[(String, Long)])]): String = {
    val of = used.map { case (group, forms) =>
      val lines = forms.map { case (condition, files) =>
        if (files == 1) condition else s"$condition   -- $files files"
      }
      s"## ${group.title}\n\n${group.needs}\n\n```text\n${lines.mkString("\n")}\n```\n"
    }
    val not = unused.map { case (condition, why) => s"| `$condition` | $why |" }
    (Intro +: of :+ s"## Not used\n\n| Condition | Why |\n|---|---|\n${not.mkString("\n")}\n" :+ End).mkString("\n")
  }

  private val Intro =
    """# Conditions that skip files
      |
      |A test asks a table of 16 files for the rows of each condition here, and compares them with those
      |of Spark alone. All columns rise with `id`. One file was read, unless a number says otherwise.
      |
      |Conditions are joined by AND, OR and NOT. A part that is not used leaves the others as they are.
      |[EXPLAIN SKIPPING](statements/explain-skipping.md) says for each condition of a query what it
      |skips, or why it skips nothing. [Types](choosing-columns.md#types) says which columns have bounds.
      |""".stripMargin

  private val End = "[Memory](skipping.md#memory) skips by these too, when they are asked again.\n"
}
