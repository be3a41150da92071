package org.sparkzorder.optimize.join

import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.types.{DataType, StructField}

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.layout.JoinSpec
import org.sparkzorder.statement.{JoinClause, PathTarget, TableTarget}
import org.sparkzorder.table.{KeyColumns, PlainTable}

/** What the names of a statement with joins mean. They may begin with the name of their table. */
private[join] final class JoinedNames(fact: PlainTable) {
  private val resolver = fact.session.sessionState.conf.resolver

  private val factName: Seq[String] = fact.target match {
    case TableTarget(parts) => parts
    case _: PathTarget      => Nil
  }

  def inFact(parts: Seq[String]): Option[Seq[StructField]] =
    meanings(parts, factName).flatMap(KeyColumns.find(fact.dataSchema, _, resolver)).headOption

  def inDimension(dimension: DimensionTable, parts: Seq[String]): Option[Seq[StructField]] =
    meanings(parts, dimension.parts).flatMap(dimension.find(_, resolver)).headOption

  /** The name as it is, and without the name of its table or the end of that. */
  private def meanings(parts: Seq[String], table: Seq[String]): Seq[Seq[String]] =
    parts +: (1 to table.size).filter { n =>
      n < parts.size && table.takeRight(n).zip(parts).forall { case (a, b) => resolver(a, b) }
    }.map(parts.drop)

  /**
   * The columns of the table and of the dimension that are equal, in either order.
   *
   * @throws org.apache.spark.sql.AnalysisException unless it is clear which is which
   */
  def sides(dimension: DimensionTable, clause: JoinClause): (Seq[StructField], Seq[StructField]) = {
    def sides(own: Seq[String], other: Seq[String]) =
      for { column <- inFact(own); key <- inDimension(dimension, other) } yield (column, key)
    val found = (sides(clause.left, clause.right) ++ sides(clause.right, clause.left)).toSeq.distinct
    def equality = s"${quoteNameParts(clause.left)} = ${quoteNameParts(clause.right)}"
    found match {
      case Seq(one) => one
      case Seq()    =>
        Seq(clause.left, clause.right).find(isPartition).foreach(c => throw ZOrderErrors.partitionColumn(c))
        val tables = s"${fact.name} and the other of ${quoteNameParts(dimension.parts)}"
        throw ZOrderErrors.joinCondition(clause.dimension, s"In $equality, no column is one of $tables")
      case _ =>
        val reason = s"In $equality, both tables have both columns, so write the name of its table before each"
        throw ZOrderErrors.joinCondition(clause.dimension, reason)
    }
  }

  private def isPartition(parts: Seq[String]): Boolean =
    fact.partitionSchema.exists(f => meanings(parts, factName).exists(m => m.size == 1 && resolver(f.name, m.head)))

  def column(path: Seq[String]): Seq[StructField] = KeyColumns.find(fact.dataSchema, path, resolver)
    .getOrElse(throw ZOrderErrors.columnNotFound(path, fact.dataSchema.fieldNames.toSeq.map(Seq(_))))

  def column(dimension: DimensionTable, path: Seq[String]): Seq[StructField] = dimension.find(path, resolver)
    .getOrElse(throw ZOrderErrors.columnNotFound(
      dimension.parts.last +: path,
      dimension.plan.schema.fieldNames.toSeq.map(Seq(_))
    ))
}

/** A table and the dimensions that it is joined with. Names of a layout are columns of one of them. */
private[sparkzorder] final class JoinedTables private (fact: PlainTable, val joins: Seq[DimensionJoin]) {
  private val names = new JoinedNames(fact)

  /**
   * Finds the columns of a layout. A column of a dimension has the path that [[JoinSpec]] gives it.
   *
   * @throws org.apache.spark.sql.AnalysisException when a name means nothing or several things, or when there is a
   *   dimension of which no column is named
   */
  def resolveAll(columns: Seq[Seq[String]]): Seq[(Seq[String], DataType)] = {
    val resolved = if (joins.isEmpty) KeyColumns.resolveAll(fact, columns) else columns.map(resolve)
    KeyColumns.refuseDoubled(resolved.map(_._1))
    val dimensions = resolved.map(_._1).filter(JoinSpec.isAttribute).map(_(1)).toSet
    joins.find(j => !dimensions(j.spec.name)).foreach(j => throw ZOrderErrors.unusedJoin(j.spec.dimension))
    resolved
  }

  private def resolve(parts: Seq[String]): (Seq[String], DataType) = {
    val attributes = for {
      join <- joins
      fields <- names.inDimension(join.dimension, parts)
    } yield (join.spec.attribute(fields.map(_.name)), KeyColumns.keyType(fields), quoteNameParts(join.spec.dimension))
    val own = names.inFact(parts)
    (attributes, own) match {
      case (Seq(), Some(fields))            => KeyColumns.resolve(fact, fields.map(_.name))
      case (Seq(), None)                    => KeyColumns.resolve(fact, parts)
      case (Seq((path, dataType, _)), None) => (path, dataType)
      case (several, _) => throw ZOrderErrors.ambiguousColumn(parts, own.map(_ => fact.name).toSeq ++ several.map(_._3))
    }
  }

  def known(paths: Seq[Seq[String]]): Seq[(Seq[String], DataType)] = {
    val resolved = paths.map(path => attribute(path).getOrElse(KeyColumns.resolve(fact, path)))
    KeyColumns.refuseDoubled(resolved.map(_._1))
    resolved
  }

  private def attribute(path: Seq[String]): Option[(Seq[String], DataType)] =
    joins.find(j => JoinSpec.isAttribute(path) && j.spec.name == path(1)).map { join =>
      val fields = names.column(join.dimension, path.drop(2))
      join.spec.attribute(fields.map(_.name)) -> KeyColumns.keyType(fields)
    }
}

private[sparkzorder] object JoinedTables {

  /** @throws org.apache.spark.sql.AnalysisException when a dimension cannot be read or joined. No job runs */
  def of(fact: PlainTable, clauses: Seq[JoinClause]): JoinedTables =
    opened(fact, clauses)(_.dimension)((names, dimension, clause) => names.sides(dimension, clause))

  def ofSpec(fact: PlainTable, specs: Seq[JoinSpec]): JoinedTables =
    opened(fact, specs)(_.dimension)((names, dimension, spec) =>
      (names.column(spec.column), names.column(dimension, spec.key))
    )

  /** @param sides the columns of the table and of the dimension that are equal */
  private def opened[T](fact: PlainTable, joins: Seq[T])(nameOf: T => Seq[String])(
      sides: (JoinedNames, DimensionTable, T) => (Seq[StructField], Seq[StructField])
  ): JoinedTables = {
    val names = new JoinedNames(fact)
    val found = joins.map { join =>
      val dimension = DimensionTable.open(fact, nameOf(join))
      val (column, key) = sides(names, dimension, join)
      DimensionJoin.of(fact, dimension, column, key)
    }
    found.map(_.spec).groupBy(_.name.toLowerCase(java.util.Locale.ROOT)).values.find(_.size > 1).foreach { same =>
      throw ZOrderErrors.refusedDimension(same.last.dimension, "Another dimension has the same name. Join a view of it")
    }
    new JoinedTables(fact, found)
  }
}
