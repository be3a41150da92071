package org.sparkzorder.write.orc

import org.apache.orc.TypeDescription

/**
 * How an ORC file is written.
 *
 * @param schema of the file
 * @param proleptic whether dates and times are in the proleptic Gregorian calendar; None for what
 *   the writer's settings say
 * @param userMetadata values with one character for each byte
 * @param batchSize number of rows that the writer takes at once
 */
final case class OrcFileSettings(
    schema: TypeDescription,
    proleptic: Option[Boolean],
    userMetadata: Map[String, String],
    batchSize: Int
)
