package org.sparkzorder.conf

/**
 * A line of the reference page about settings, in words for users.
 *
 * @param key the name of a session setting or of a table property
 * @param valueType how its value is written
 * @param range the values that are allowed
 * @param default what holds where it is not set
 * @param description what it does, in a sentence or two
 * @param example a value as a user would write it
 */
final case class Setting(
    key: String,
    valueType: String,
    default: String,
    range: String,
    description: String,
    example: String
)
