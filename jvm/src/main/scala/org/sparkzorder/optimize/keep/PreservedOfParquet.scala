package org.sparkzorder.optimize.keep

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.schema.MessageType
import org.apache.spark.sql.execution.datasources.parquet.SparkToParquetSchemaConverter
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import org.sparkzorder.compat._
import org.sparkzorder.footer.parquet.WholeFooter
import org.sparkzorder.footer.traits.{FileTraits, KeptKeys}
import org.sparkzorder.optimize.Input
import org.sparkzorder.shim.SparkShim.VariantType
import org.sparkzorder.table.PlainTable
import org.sparkzorder.write.NullableSchema
import org.sparkzorder.write.encode.MisleadingFilters
import org.sparkzorder.write.preserve.{KnownEncodings, PreservedParquet, PreservedSchema}

private final class PreservedOfParquet(
    table: PlainTable,
    inputs: IndexedSeq[Input],
    traits: IndexedSeq[FileTraits],
    writeConf: Map[String, String]
) {
  private val conf: Configuration = table.session.sessionState.newHadoopConfWithOptions(table.relation.options)
  private val footers = mutable.Map.empty[Int, WholeFooter]
  private def footer(i: Int): WholeFooter =
    footers.getOrElseUpdate(i, WholeFooter.of(conf, inputs(i).status))

  def result: PreservedFromInputs = {
    val bySchema = traits.groupBy(_.schema).toSeq.map { case (digest, same) =>
      footer(traits.indexWhere(_.schema == digest)).schema -> same
    }
    val schemas = bySchema.map(_._1)
    val schema = Option.when(!hasVariant(table.dataSchema))(PreservedSchema.of(sparkSchema, schemas))
    val same = schema.exists(s => schemas.forall(_.getFields.toString == s.schema.getFields.toString))
    val keys = KeptKeys.of(traits, (i, key) => footer(i).keyValues(key), same, sameCalendar)
    val kept = PreservedParquet(
      sparkSchema,
      schema.map(_.schema),
      keys.values,
      dictionaries = inDictionaries(bySchema, schema.fold(sparkSchema)(_.schema)),
      encodings = traits.flatMap(_.encodings).toSet
    )
    val (blooms, lostBlooms) = bloomFilters(schema.map(_.schema).getOrElse(sparkSchema))
    val (pages, lostPages) = pageVersion(kept)
    val lostOfSchema = schema.fold(Seq.empty[String])(_.lost)
    PreservedFromInputs(
      files = Some(kept),
      options = pages,
      bloomFilters = blooms,
      lost = lostOfSchema ++ keys.lost ++ lostBlooms ++ lostPages ++ PreservedFromInputs.mixedCodecs(traits)
    )
  }

  /**
   * The leaves that are wholly in dictionaries in all files, by the same path and type as in the new ones. Of a file
   * without the leaf, or with another type, readers do not look for a value in the dictionary.
   */
  private def inDictionaries(bySchema: Seq[(MessageType, Seq[FileTraits])], made: MessageType): Set[Seq[String]] = {
    def typeOf(leaf: ColumnDescriptor) = leaf.getPath.toSeq -> leaf.getPrimitiveType.getPrimitiveTypeName
    val ofEach = bySchema.map { case (schema, files) =>
      schema.getColumns.asScala.zipWithIndex.collect {
        case (leaf, i) if files.forall(_.dictionaries(i)) => typeOf(leaf)
      }.toSet
    }
    ofEach.foldLeft(made.getColumns.asScala.map(typeOf).toSet)(_ & _).map(_._1)
  }

  private lazy val sparkSchema: MessageType = {
    val settings = table.session.sessionState.conf.clone()
    writeConf.foreach { case (key, value) => settings.setConfString(key, value) }
    new SparkToParquetSchemaConverter(settings).convert(NullableSchema.of(table.dataSchema))
  }

  private def bloomFilters(schema: MessageType): (Seq[Seq[String]], Seq[String]) = {
    def fold(path: Seq[String]) = path.map(_.toLowerCase(java.util.Locale.ROOT))
    val leaves = PreservedSchema.leaves(schema, schema)
    val wanted = traits.flatMap(_.bloomFilters).distinct
    def misleads(leaf: Seq[String]) =
      MisleadingFilters.isOf(schema.getColumnDescription(leaf.toArray).getPrimitiveType.getPrimitiveTypeName)
    val (can, cannot) =
      wanted.partition(p => BloomFilters.canBeNamed("parquet", p) && leaves.get(fold(p)).exists(!misleads(_)))
    (can.map(p => leaves(fold(p))).distinct, cannot.map(BloomFilters.lost))
  }

  private def pageVersion(kept: PreservedParquet): (Map[String, String], Seq[String]) = {
    val isCompressed = !writeConf.get(SQLConf.PARQUET_COMPRESSION.key).contains("uncompressed")
    val inAll = traits.filter(_.codecs.nonEmpty).forall(_.encodings.nonEmpty)
    // Some readers know differences in pages of version 1 only, where some writers put them.
    val hadPages = traits.exists(_.hasPagesOfVersion2)
    if (isCompressed && inAll && hadPages && KnownEncodings.canBeVersion2(kept))
      (Map("parquet.writer.version" -> "v2"), Nil)
    else {
      val lost = kept.encodings.map(_._2.name).filter(_.startsWith("DELTA_")).toSeq.sorted.mkString(", ")
      val why = if (isCompressed) "the files lack some of version 2" else "Spark may misread them without compression"
      (Map.empty, Option.when(lost.nonEmpty)(s"encodings $lost ($why)").toSeq)
    }
  }

  private def sameCalendar: Boolean = {
    val settings = table.session.sessionState.conf
    val modes = Seq(
      SQLConf.PARQUET_REBASE_MODE_IN_READ.key,
      SQLConf.PARQUET_REBASE_MODE_IN_WRITE.key,
      SQLConf.PARQUET_INT96_REBASE_MODE_IN_READ.key,
      SQLConf.PARQUET_INT96_REBASE_MODE_IN_WRITE.key
    ).map(settings.getConfString(_))
    val ofTable = table.relation.options.keys.exists(_.toLowerCase(java.util.Locale.ROOT).endsWith("rebasemode"))
    !ofTable && !modes.exists(_.equalsIgnoreCase("LEGACY"))
  }

  /** The writer decides from the rows how to shred a variant, so the schema of the inputs cannot be kept. */
  private def hasVariant(t: DataType): Boolean = t match {
    case s: StructType => s.exists(f => hasVariant(f.dataType))
    case a: ArrayType  => hasVariant(a.elementType)
    case m: MapType    => hasVariant(m.keyType) || hasVariant(m.valueType)
    case VariantType   => true
    case _             => false
  }
}
