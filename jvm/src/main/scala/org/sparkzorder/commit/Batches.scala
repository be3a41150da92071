package org.sparkzorder.commit

/**
 * How many files of a folder are moved between two looks at it.
 *
 * @param retired inputs per batch, or a quarter of all if that is more. Somebody may replace an
 *                input right before it is moved. His file is then in the trash until the batch is
 *                looked at
 * @param published outputs per wave. So many may still come after somebody has overwritten the
 *                  folder
 * @param alone outputs that come one by one at the beginning, in the order of the record
 */
final case class Batches(retired: Int = 512, published: Int = 64, alone: Int = 8) {

  /**
   * The batch for so many inputs. A look may list the whole folder, so a large folder gets few
   * batches.
   */
  def ofRetired(inputs: Int): Int = math.max(retired, inputs / 4)

  /**
   * The number of an output's wave. The waves come one after the other, the outputs of one wave in
   * any order. The number depends on nothing else, so a recovery counts the waves as the dead owner
   * did.
   *
   * @param output its number among those of its folder, from 0
   */
  private[commit] def wave(output: Int): Int = if (output < alone) output else alone + (output - alone) / published
}
