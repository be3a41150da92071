package org.sparkzorder.footer.traits

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.node.ObjectNode

import org.sparkzorder.codec.Json

/** The value of `geo` (GeoParquet). Boxes and kinds of geometries describe the rows of one file. */
private[footer] object GeoMetadata {

  /** The same for all files that were written alike, and true for any of their rows. None for another text. */
  def ofOthers(text: String): Option[String] = Json.parse(text).collect { case json: ObjectNode =>
    json.path("columns").elements.asScala.foreach {
      case column: ObjectNode =>
        column.remove("bbox")
        // By the specification, an empty list says that the kinds are not known.
        column.putArray("geometry_types")
      case _ => ()
    }
    Json.text(json)
  }
}
