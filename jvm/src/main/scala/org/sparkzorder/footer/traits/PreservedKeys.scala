package org.sparkzorder.footer.traits

/** Key-value metadata for new files with the rows of all inputs; and in words, what of the inputs' these have lost. */
final case class PreservedKeys(values: Map[String, String], lost: Seq[String])

object PreservedKeys {

  /** How many different values of one key are merged at most. */
  private val MostMerged = 16

  /**
   * @param traits of all inputs
   * @param textOf the value of a key in the input with this position
   * @param sameSchema whether the new files have exactly the schema that each input has
   * @param sameCalendar whether dates and instants are read and written without rebasing
   */
  def of(
      traits: IndexedSeq[FileTraits],
      textOf: (Int, String) => String,
      sameSchema: Boolean,
      sameCalendar: Boolean
  ): PreservedKeys = {
    val firsts = traits.indices.reverseIterator.flatMap(i => traits(i).keys.keysIterator.map(_ -> i)).toMap
    val decided = firsts.keys.toVector.filter(_ != KeyValues.Arrow).sorted.map { key =>
      key -> decide(key, traits, textOf(firsts(key), key), textOf, sameSchema, sameCalendar)
    }
    val values = decided.collect { case (key, Decision(Some(value), _)) => key -> value }.toMap
    val arrow = firsts.get(KeyValues.Arrow).map(i => ofArrow(traits, textOf(i, KeyValues.Arrow), values, sameSchema))
    val all = decided ++ arrow.map(KeyValues.Arrow -> _)
    val words = all.flatMap { case (key, d) => d.lost.map(why => s"key-value metadata `$key` ($why)") }
    PreservedKeys(values ++ arrow.flatMap(_.value).map(KeyValues.Arrow -> _), words)
  }

  private final case class Decision(value: Option[String], lost: Option[String])
  private def lost(why: String) = Decision(None, Some(why))
  private val Differs = lost("the files differ")
  private val OtherSchema = lost("the new files have another schema")

  private def decide(
      key: String,
      traits: IndexedSeq[FileTraits],
      text: => String,
      textOf: (Int, String) => String,
      sameSchema: Boolean,
      sameCalendar: Boolean
  ): Decision = {
    val digests = traits.map(_.keys.get(key)).distinct
    if (KeyValues.isOfOneFile(key)) lost("it is about one file")
    else if (digests.contains(None)) lost("not all files have it")
    else if (KeyValues.isOfSchema(key) && !sameSchema) OtherSchema
    else if (KeyValues.isOfCalendar(key) && !sameCalendar) lost("dates and instants are rebased")
    else key match {
      case KeyValues.Pandas if digests.size <= MostMerged =>
        val texts = digests.map(d => textOf(traits.indexWhere(_.keys.get(key) == d), key))
        PandasMetadata.merge(texts).fold(Differs) { case (value, unsaid) =>
          Decision(Some(value), Some(unsaid.mkString("; ")).filter(_.nonEmpty))
        }
      case _ if digests.size > 1 => Differs
      case KeyValues.Geo         =>
        GeoMetadata.ofOthers(text).fold(Decision(Some(text), None))(value =>
          Decision(Some(value), Some("boxes and kinds of geometries"))
        )
      case _ => Decision(Some(text), None)
    }
  }

  /** @param values the kept values of the other keys, which Arrow's schema repeats */
  private def ofArrow(
      traits: IndexedSeq[FileTraits],
      text: => String,
      values: Map[String, String],
      sameSchema: Boolean
  ): Decision = {
    val digests = traits.map(_.keys.get(KeyValues.Arrow)).distinct
    if (digests.contains(None)) lost("not all files have it")
    else if (!sameSchema) OtherSchema
    else if (digests.size > 1) Differs
    else ArrowSchema.parse(text) match {
      case Some(schema) => Decision(Some(schema.repeating(values)), PandasMetadata.lostCategories(schema.categories))
      case None         => lost("it has types that this version of Arrow does not know")
    }
  }
}
